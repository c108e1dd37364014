//! Links that lead nowhere.

use std::collections::BTreeSet;

use super::super::links;
use super::file;

fn problems(text: &str) -> Vec<String> {
    let other = "# Title\n\n## A `b` & [c](other.md): e_f!\n\n## Twice\n\n## Twice\n\n```\n# code\n```\n<a id=\"here\"></a>\n";
    let files = [
        file("docs/one/page.md", text),
        file("docs/other.md", other),
        file("dev/x.md", "[x](gone.md)"),
    ];
    let paths = ["docs/one/page.md", "docs/other.md", "docs/image.png", "README.md"];
    let paths: BTreeSet<String> = paths.map(str::to_owned).into();
    links::check(&files, &paths)
}

#[test]
fn links_that_lead_somewhere_pass() {
    let good = "# Own\n[a](../other.md) [b](../other.md#a-b--c-e_f) [c](../other.md#twice-1) [d](#own) ![e](../image.png)\n\
                [f](../other.md#here \"title\") [g](https://example.com/x.md) [h](mailto:a@b) [i](..) `[j](gone.md)`\n\
                [k](/README.md)\n```\n[l](gone.md)\n```\n[m]: ../other.md#twice\n";
    assert_eq!(problems(good), Vec::<String>::new());
}

#[test]
fn links_that_lead_nowhere_are_named() {
    for (bad, what) in [
        ("[a](other.md)", "`other.md` leads to no file"),
        (
            "[a](../other.md) and [b](../gone.md)",
            "`../gone.md` leads to no file",
        ),
        ("<img src=\"../gone.png\">", "`../gone.png` leads to no file"),
        ("[a]: ../gone.md", "`../gone.md` leads to no file"),
        (
            "[a](../../../x.md)",
            "`../../../x.md` leads out of the repository",
        ),
        (
            "[a](../other.md#twice-2)",
            "`../other.md#twice-2` leads to no heading",
        ),
        ("[a](../other.md#code)", "`../other.md#code` leads to no heading"),
        ("[a](#own)", "`#own` leads to no heading"),
    ] {
        let found = problems(&format!("# Title\n\n{bad}\n"));
        assert_eq!(found, [format!("docs/one/page.md:3: the link {what}")]);
    }
}

#[test]
fn paths_between_backticks_that_lead_nowhere_are_named() {
    let text = "`docs/other.md` `docs/one/` `docs/one/page.md::kept` `dev/*.md` `gone/x` `a docs/x`\n\
                `docs/gone.md` `docs/on`\n`docs/one/page.md::lost`\nfn kept()\n";
    assert_eq!(
        problems(text),
        [
            "docs/one/page.md:2: `docs/gone.md` does not exist",
            "docs/one/page.md:2: `docs/on` does not exist",
            "docs/one/page.md:3: `docs/one/page.md::lost` does not exist",
        ]
    );
}
