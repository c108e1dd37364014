//! Pages, element by element.

use expect_test::expect;

use crate::page;

#[test]
fn a_page_keeps_its_structure() {
    let html = "<nav>Home</nav><h1>Guide <small>v2</small></h1><p>One &amp; <b>two</b>\n three<br>four<p>Five \
        <a href='/x y'>a link</a>, <a href='javascript:x()'>none</a>.<ul><li>a<li>b<ol start=3><li>c<li><p>d<p>e</ol></ul>\
        <blockquote>said<p>twice</blockquote><pre class='language-rust'>fn a() {\n  `x`\n}</pre><p>Use <code>ls -l</code>. <img alt='A map' src=m.png><script>bad()</script><style>p{}</style><footer>End</footer>";
    expect![[r"
        # Guide v2

        One & two three
        four

        Five [a link](</x y>), none.

        - a
        - b
          3. c
          4. d

             e

        > said

        > twice

        ```rust
        fn a() {
          `x`
        }
        ```

        Use `ls -l`. ![A map](m.png)

        End
    "]]
    .assert_eq(&page(html));
}

#[test]
fn tables_of_data_and_layout_tables_differ() {
    let html = "<table><tr><th>Name<th>Size<tr><td>a|b<td><p>1</p><p>2</p><tr><td>c</table>\
        <table><tr><td><h2>Layout</h2><p>left</td><td>right<table><tr><td>x<td>y</table></td></tr></table>\
        <table><tr><td>one<tr><td>column</table>";
    expect![[r"
        | Name | Size |
        |---|---|
        | a\|b | 1 2 |
        | c |

        ## Layout

        left

        right

        | x | y |
        |---|---|

        one

        column
    "]]
    .assert_eq(&page(html));
}

#[test]
fn text_that_looks_like_markup_stays_text() {
    let html = "<p># no heading<p>1. no list<p>- none<p>&lt;script&gt; a &lt; b<p>&gt; no quote<p>```";
    expect![[r"
        \# no heading

        1\. no list

        \- none

        \<script> a < b

        \> no quote

        \```
    "]]
    .assert_eq(&page(html));
}

#[test]
fn hidden_elements_are_left_out() {
    for hidden in [
        "<div hidden>BAD</div>",
        "<div style='display:none'>BAD <p>BAD</p></div>",
        "<div style='color:red; DISPLAY : none !important'>BAD</div>",
        "<div style='dis/**/play:none'>BAD</div>",
        "<span style='visibility:hidden'>BAD</span>",
        "<p style='font-size:0px'>BAD</p>",
        "<p style='font:0/0 a'>BAD</p>",
        "<p style='opacity:0.00'>BAD</p>",
        "<p style='width:0;overflow:hidden'>BAD</p>",
        "<p style='height:0px;overflow-y:clip'>BAD</p>",
        "<div hidden><div><table><tr><td>BAD</table></div>BAD</div>",
        "<dialog>BAD</dialog>",
        "<template>BAD</template>",
        "<div role=navigation>BAD</div>",
        "<noscript>BAD</noscript>",
        "<svg><title>BAD</title><text>BAD</text></svg>",
        "<select><option>BAD</select>",
        "<textarea><p>BAD</textarea>",
        "<img alt='BAD' hidden>",
        "<!-- BAD -->",
        "<script><p>BAD</p></script>",
    ] {
        assert_eq!(
            page(&format!("<p>before</p>{hidden}<p>after</p>")),
            "before\n\nafter\n",
            "{hidden}"
        );
    }
    for shown in [
        "style='width:0'",
        "style='font-size:10px'",
        "style='opacity:.5'",
        "style='display:block'",
        "class=hidden",
    ] {
        assert!(
            page(&format!("<div {shown}>GOOD</div>")).contains("GOOD"),
            "{shown}"
        );
    }
}

#[test]
fn links_continue_over_blocks_and_never_nest() {
    assert_eq!(
        page("<a href=/a><div>one</div><div>two</div></a> x"),
        "[one](/a)\n\n[two](/a)\n\nx\n"
    );
    assert_eq!(page("<a href=/a>one <a href=/b>two</a>"), "[one](/a) [two](/b)\n");
    assert_eq!(
        page("<a href='#top'>up</a> <a href='data:x'>d</a> <a href='/a(b)'>p</a>"),
        "up d [p](</a(b)>)\n"
    );
}

#[test]
fn wrong_end_tags_lose_no_text() {
    assert_eq!(
        page("<p>a</div></b></p></table>b<td>c</td><li>d"),
        "a\n\nb\n\nc\n\n- d\n"
    );
    assert_eq!(
        page("<table><tr><td>a</div></td><td>b</table>c"),
        "| a | b |\n|---|---|\n\nc\n"
    );
}
