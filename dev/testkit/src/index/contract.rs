//! The contract of the index port, for the fake and the real index.
//!
//! Owns: the port's promises as assertions. Never: speed, files, or the behaviour of only one implementation.

use model::{Doc, DocId, DocKey, EmbedderId, Name, Scope, Vector};
use ports::{CandidateQuery, Index, IndexError, IndexHealth};

use super::cities;
use super::samples::{embedder, full, key, turn, user, with_vector};

/// Runs every clause, each on an empty index for [`embedder`] that `open` makes.
pub async fn holds<I: Index>(open: impl AsyncFn() -> I) {
    is_fresh_until_something_is_published(&open().await).await;
    returns_every_field_as_it_was(&open().await).await;
    takes_any_id(&open().await).await;
    removes_before_it_adds(&open().await).await;
    keeps_owners_apart(&open().await).await;
    refuses_vectors_of_another_size(&open().await).await;
    finds_words_in_many_languages(&open().await).await;
    finds_the_one_word_that_differs(&open().await).await;
    finds_near_vectors(&open().await).await;
    finds_rows_written_after_maintenance(&open().await).await;
    limits_each_search(&open().await).await;
    survives_any_query_text(&open().await).await;
    swaps_a_staged_generation_in(&open().await).await;
    forgets_a_dropped_stage(&open().await).await;
    changes_the_embedder_by_a_stage(&open().await).await;
}

/// A new index is fresh until a generation is published: it may not have every row.
pub async fn is_fresh_until_something_is_published(index: &impl Index) {
    assert_eq!(index.health(&embedder()).await, IndexHealth::Fresh);
    apply(index, &[turn("ann", "a", "one")]).await;
    assert_eq!(index.health(&embedder()).await, IndexHealth::Fresh);
    let stage = index.stage(&embedder()).await.expect("stages");
    stage.publish().await.expect("publishes");
    assert_eq!(index.health(&embedder()).await, IndexHealth::Ready);
    assert_eq!(ids(&load(index, "ann").await), [""; 0]);
}

/// Every field comes back, the empty and the hardest ones too.
pub async fn returns_every_field_as_it_was(index: &impl Index) {
    let empty = Doc {
        session: None,
        role: None,
        ..turn("ann", "empty", "")
    };
    let mut blank = empty.clone();
    blank.key = key("ann", "blank");
    blank.speaker = Some(String::new());
    blank.vector = Some(Vector::from([0.0; 4]));
    let docs = [blank, empty, full("ann", "full")];
    apply(index, &docs).await;
    assert_eq!(load(index, "ann").await, docs);
}

/// Ids are data, never syntax.
pub async fn takes_any_id(index: &impl Index) {
    let hard = [
        "'",
        "''; drop",
        "\"",
        "\\",
        "a'b\\'c",
        "%",
        "_",
        "名前",
        "👩‍👩‍👧",
        "\u{0}",
        "a\nb",
        "",
        " ",
        "plain",
    ];
    let docs: Vec<Doc> = hard.iter().map(|id| turn("ann", id, "text")).collect();
    apply(index, &docs).await;
    for (gone, id) in hard.iter().enumerate() {
        assert_eq!(
            load(index, "ann").await.len(),
            hard.len() - gone,
            "before {id:?} is removed"
        );
        index.apply(&[], &[key("ann", id)]).await.expect("removes");
        assert!(!ids(&load(index, "ann").await).contains(id), "{id:?} is removed");
    }
}

/// A replaced row is there once; removing a missing row has no effect.
pub async fn removes_before_it_adds(index: &impl Index) {
    apply(index, &[turn("ann", "a", "old"), turn("ann", "b", "other")]).await;
    let replaced = [key("ann", "a"), key("ann", "never"), key("nobody", "b")];
    index
        .apply(&[turn("ann", "a", "new")], &replaced)
        .await
        .expect("replaces");
    let texts: Vec<String> = load(index, "ann").await.into_iter().map(|doc| doc.text).collect();
    assert_eq!(texts, ["new", "other"]);
    index
        .apply(&[], &[])
        .await
        .expect("nothing is something to apply");
}

/// Owners of one name in two scopes or of two kinds share nothing, whatever the names are.
pub async fn keeps_owners_apart(index: &impl Index) {
    let name = |text: &str| Name::parse(text).expect("a proper name");
    let scope = |app, project| Scope::new(name(app), name(project));
    let spread = [
        (scope("a", "b"), user("c")),
        (scope("a", "b.c"), user("c")),
        (scope("a.b", "c"), user("c")),
        (scope("A", "b"), user("c")),
        (scope("a", "b"), user("c.c")),
        (scope("a", "b"), model::Owner::agent(name("c"))),
    ];
    let docs = spread.clone().map(|(scope, owner)| {
        let mut doc = turn("x", "same", &format!("violin {scope:?} {owner:?}"));
        doc.key.scope = scope;
        doc.key.owner = owner;
        doc
    });
    apply(index, &docs).await;
    for ((scope, owner), doc) in spread.into_iter().zip(&docs) {
        let too_many = index.load_up_to(&scope, &owner, 0).await.expect("loads");
        assert_eq!(too_many, None, "one row is more than none");
        let enough = index.load_up_to(&scope, &owner, 1).await.expect("loads");
        assert_eq!(enough.as_deref(), Some(std::slice::from_ref(doc)));
        assert_eq!(
            index.load(&scope, &owner).await.expect("loads"),
            std::slice::from_ref(doc)
        );
        let query = CandidateQuery {
            scope,
            owner,
            text: "violin".to_owned(),
            vector: None,
            limit: 10,
        };
        assert_eq!(
            index.candidates(&query).await.expect("searches"),
            std::slice::from_ref(doc)
        );
    }
    let (asked, others) = docs.split_at(2);
    let mut keys: Vec<DocKey> = asked.iter().map(|doc| doc.key.clone()).collect();
    keys.push(key("nobody", "x"));
    let mut got = index.get(&keys).await.expect("gets");
    got.sort_by(|a, b| a.key.cmp(&b.key));
    assert_eq!(got, asked, "of {} others none", others.len());
    index.apply(&[], &[docs[0].key.clone()]).await.expect("removes");
    assert_eq!(
        index.stats().await.expect("has stats").rows,
        docs.len() as u64 - 1
    );
}

/// A vector of another size is refused, and nothing of its batch is written.
pub async fn refuses_vectors_of_another_size(index: &impl Index) {
    let mut longer = turn("ann", "long", "x");
    longer.vector = Some(Vector::from([1.0; 5]));
    let refused = index
        .apply(&[turn("ann", "fine", "x"), longer.clone()], &[])
        .await;
    assert!(
        matches!(refused, Err(IndexError::OtherEmbedder { .. })),
        "{refused:?}"
    );
    assert_eq!(ids(&load(index, "ann").await), [""; 0]);
    let mut stage = index.stage(&embedder()).await.expect("stages");
    let refused = stage.add(&[longer]).await;
    assert!(
        matches!(refused, Err(IndexError::OtherEmbedder { .. })),
        "{refused:?}"
    );
}

/// English endings do not matter; Chinese, Japanese and Korean words are found inside a sentence, before and after
/// maintenance.
pub async fn finds_words_in_many_languages(index: &impl Index) {
    let subject = Doc {
        subject: "Her violins".to_owned(),
        ..turn("ann", "subject", "nothing here")
    };
    let summary = Doc {
        summary: "A telescope for the balcony".to_owned(),
        ..turn("ann", "summary", "nothing here")
    };
    let docs = [
        turn("ann", "en", "She was hiking in the mountains and cooked outside."),
        turn("ann", "zh", "我昨天在上海大学图书馆看书。"),
        turn("ann", "ja", "来週、東京タワーへ行きます。"),
        turn("ann", "ko", "저는 어제 도서관에서 책을 읽었습니다."),
        turn("ann", "de", "Größe und Straße in Zürich"),
        subject,
        summary,
    ];
    let expected = [
        ("hikes", "en"),
        ("MOUNTAIN", "en"),
        ("cooking", "en"),
        ("图书馆", "zh"),
        ("上海", "zh"),
        ("東京タワー", "ja"),
        ("タワー", "ja"),
        ("도서관", "ko"),
        ("zürich", "de"),
        ("violin", "subject"),
        ("telescopes", "summary"),
    ];
    apply(index, &docs).await;
    for round in ["unindexed", "indexed", "erased"] {
        for (text, id) in expected {
            let found = search(index, "ann", text, 10).await;
            assert_eq!(ids(&found), [id], "{text} among {round} rows");
        }
        if round == "indexed" {
            index.erase().await.expect("erases");
        } else {
            index.maintain().await.expect("maintains");
        }
    }
}

/// Of sentences that differ in one word, the one with the word comes first, in any script.
pub async fn finds_the_one_word_that_differs(index: &impl Index) {
    for told in &cities::CITY_SENTENCES {
        let sentences = told.sentences();
        let rows = (0..).zip(&sentences);
        let docs: Vec<Doc> = rows
            .map(|(number, text)| turn(told.language, &format!("{number}"), text))
            .collect();
        apply(index, &docs).await;
        for (number, city) in told.queries() {
            let found = search(index, told.language, city, docs.len()).await;
            assert_eq!(found.first(), docs.get(number), "{city} in {}", told.language);
        }
    }
}

/// The search returns the owner's nearest vectors, nearest first if only vectors are searched.
pub async fn finds_near_vectors(index: &impl Index) {
    let docs = [
        with_vector(turn("ann", "near", ""), [0.9, 0.1, 0.0, 0.0]),
        with_vector(turn("ann", "nearest", ""), [1.0, 0.0, 0.0, 0.0]),
        with_vector(turn("ann", "far", ""), [-1.0, 0.0, 0.0, 0.0]),
        turn("ann", "none", ""),
        with_vector(turn("bob", "other", ""), [1.0, 0.0, 0.0, 0.0]),
    ];
    apply(index, &docs).await;
    for _ in ["unindexed", "indexed"] {
        let query = CandidateQuery {
            vector: Some(Vector::from([1.0, 0.0, 0.0, 0.0])),
            ..query("ann", "", 2)
        };
        let found = index.candidates(&query).await.expect("searches");
        assert_eq!(ids(&found), ["nearest", "near"]);
        assert_eq!(found[0], docs[1]);
        index.maintain().await.expect("maintains");
    }
}

/// Read your writes: rows that no full-text index covers are searched too, and removed rows are gone.
pub async fn finds_rows_written_after_maintenance(index: &impl Index) {
    apply(
        index,
        &[
            turn("ann", "a", "a red bicycle"),
            turn("ann", "gone", "a broken bicycle"),
        ],
    )
    .await;
    index.maintain().await.expect("maintains");
    let written = [with_vector(
        turn("ann", "b", "a blue bicycle"),
        [0.0, 1.0, 0.0, 0.0],
    )];
    index
        .apply(&written, &[key("ann", "gone")])
        .await
        .expect("applies");
    let mut found = search(index, "ann", "bicycles", 10).await;
    found.sort_by(|a, b| a.key.cmp(&b.key));
    assert_eq!(ids(&found), ["a", "b"]);
    let query = CandidateQuery {
        vector: written[0].vector.clone(),
        ..query("ann", "bicycles", 10)
    };
    let found = index.candidates(&query).await.expect("searches");
    assert_eq!(
        found.iter().filter(|doc| **doc == written[0]).count(),
        1,
        "each row once"
    );
}

/// The limit holds for each of the two searches, and no limit is too large.
pub async fn limits_each_search(index: &impl Index) {
    let docs: Vec<Doc> = (0..20)
        .map(|n| with_vector(turn("ann", &format!("{n:02}"), "tea"), [1.0, n as f32, 0.0, 0.0]))
        .collect();
    apply(index, &docs).await;
    let mut both = CandidateQuery {
        vector: Some(Vector::from([1.0, 0.0, 0.0, 0.0])),
        ..query("ann", "tea", 3)
    };
    let found = index.candidates(&both).await.expect("searches");
    assert!((3..=6).contains(&found.len()), "{}", found.len());
    both.limit = 0;
    assert_eq!(index.candidates(&both).await.expect("searches"), []);
    both.limit = 1_000_000;
    assert_eq!(index.candidates(&both).await.expect("searches").len(), 20);
    let nothing = query("ann", "", 10);
    assert_eq!(index.candidates(&nothing).await.expect("searches"), []);
}

/// A query is words, never syntax.
pub async fn survives_any_query_text(index: &impl Index) {
    apply(index, &[turn("ann", "a", "tea and \"coffee\"")]).await;
    let long = "tea ".repeat(20_000);
    for text in [
        "\"", "tea AND (", "text:tea^", "'; --", "*", "~", "\u{0}", "🎻", "   ", "+-", &long, "AND OR NOT",
    ] {
        search(index, "ann", text, 10).await;
    }
    assert_eq!(ids(&search(index, "ann", &long, 10).await), ["a"]);
    assert_eq!(ids(&search(index, "ann", "(coffee\"", 10).await), ["a"]);
}

/// A stage is invisible until it is published; then it is the whole index and accepts writes.
pub async fn swaps_a_staged_generation_in(index: &impl Index) {
    apply(index, &[turn("ann", "old", "old tea")]).await;
    let before = index.stats().await.expect("has stats");
    let mut stage = index.stage(&embedder()).await.expect("stages");
    stage
        .add(&[turn("ann", "new", "new tea"), full("ann", "full")])
        .await
        .expect("adds");
    stage.add(&[turn("bob", "more", "more tea")]).await.expect("adds");
    assert_eq!(ids(&load(index, "ann").await), ["old"]);
    apply(index, &[turn("ann", "meanwhile", "tea")]).await;
    assert_eq!(ids(&load(index, "ann").await), ["meanwhile", "old"]);
    stage.publish().await.expect("publishes");
    assert_eq!(
        load(index, "ann").await,
        [full("ann", "full"), turn("ann", "new", "new tea")]
    );
    assert_eq!(ids(&search(index, "bob", "tea", 10).await), ["more"]);
    let after = index.stats().await.expect("has stats");
    assert!(after.generation > before.generation, "{after:?}");
    assert_eq!(after.rows, 3);
    apply(index, &[turn("bob", "last", "teas")]).await;
    assert_eq!(search(index, "bob", "tea", 10).await.len(), 2);
}

/// Dropping a stage leaves the live generation, and another stage can begin.
pub async fn forgets_a_dropped_stage(index: &impl Index) {
    apply(index, &[turn("ann", "a", "tea")]).await;
    let mut stage = index.stage(&embedder()).await.expect("stages");
    stage.add(&[turn("ann", "b", "tea")]).await.expect("adds");
    drop(stage);
    assert_eq!(ids(&search(index, "ann", "tea", 10).await), ["a"]);
    let mut stage = index.stage(&embedder()).await.expect("stages again");
    stage
        .add(&[turn("ann", "b", "tea")])
        .await
        .expect("adds what the dropped stage had");
    stage.publish().await.expect("publishes");
    assert_eq!(ids(&load(index, "ann").await), ["b"]);
}

/// Vectors of two models are never in one generation: the embedder changes with a new one.
pub async fn changes_the_embedder_by_a_stage(index: &impl Index) {
    let other = EmbedderId {
        model: "another/1".to_owned(),
        dims: 2,
    };
    assert!(matches!(
        index.health(&other).await,
        IndexHealth::NeedsRebuild { .. }
    ));
    let mut doc = turn("ann", "a", "tea");
    doc.vector = Some(Vector::from([0.0, 1.0]));
    let mut stage = index.stage(&other).await.expect("stages");
    stage.add(std::slice::from_ref(&doc)).await.expect("adds");
    stage.publish().await.expect("publishes");
    assert_eq!(index.health(&other).await, IndexHealth::Ready);
    assert!(matches!(
        index.health(&embedder()).await,
        IndexHealth::NeedsRebuild { .. }
    ));
    assert_eq!(load(index, "ann").await, [doc]);
}

async fn apply(index: &impl Index, docs: &[Doc]) {
    index.apply(docs, &[]).await.expect("applies");
}

/// A user's rows in order of key; indexes promise no order.
async fn load(index: &impl Index, owner: &str) -> Vec<Doc> {
    let mut docs = index.load(&Scope::default(), &user(owner)).await.expect("loads");
    docs.sort_by(|a, b| a.key.cmp(&b.key));
    for (rows_max, fit) in [
        (docs.len(), true),
        (docs.len().saturating_sub(1), docs.is_empty()),
    ] {
        let some = index.load_up_to(&Scope::default(), &user(owner), rows_max).await;
        assert_eq!(some.expect("loads").is_some(), fit, "{rows_max} at most");
    }
    let mut facts = index.facts(&Scope::default(), &user(owner)).await.expect("loads");
    facts.sort_by(|a, b| a.key.cmp(&b.key));
    let expected = docs.iter().filter(|doc| doc.is_fact()).cloned();
    let expected: Vec<Doc> = expected.map(|doc| Doc { vector: None, ..doc }).collect();
    assert_eq!(facts, expected, "the facts among them, without vectors");
    docs
}

fn query(owner: &str, text: &str, limit: usize) -> CandidateQuery {
    CandidateQuery {
        scope: Scope::default(),
        owner: user(owner),
        text: text.to_owned(),
        vector: None,
        limit,
    }
}

async fn search(index: &impl Index, owner: &str, text: &str, limit: usize) -> Vec<Doc> {
    index
        .candidates(&query(owner, text, limit))
        .await
        .expect("searches")
}

fn ids(docs: &[Doc]) -> Vec<&str> {
    docs.iter()
        .map(|doc| -> &DocId { &doc.key.id })
        .map(|id| &**id)
        .collect()
}
