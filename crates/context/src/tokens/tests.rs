//! Guarantees of the counts: exactness, invariants I11 and I12, and bounded results for hostile text.

use expect_test::expect;
use proptest::prelude::*;
use transcript::dialect::{Dialect, read_message};
use transcript::{Block, Call, Image, Item, Outcome, Role, Thinking};

use crate::tokens::item::{FILE_TOKENS, IMAGE_LOW_TOKENS, IMAGE_TOKENS};
use crate::tokens::{Calibration, Meter, Vocabulary};

fn meters() -> Vec<Meter> {
    ["gpt-5", "gpt-4", "unheard-of", "qwen3"]
        .map(Meter::for_model)
        .to_vec()
}

fn item(block: Block) -> Item {
    Item {
        role: Role::User,
        blocks: vec![block],
        raw: None,
        edited: false,
    }
}

fn call(id: &str, arguments: &str) -> Block {
    Block::Call(Call {
        id: id.into(),
        name: "read".into(),
        arguments: arguments.into(),
    })
}

#[test]
fn the_vocabulary_follows_from_the_name() {
    let names = [
        "gpt-5",
        "openai/gpt-5",
        "openrouter/openai/gpt-5-mini:free",
        "gpt-4o-2024-08-06",
        "GPT-4.1",
        "o1",
        "o3-mini",
        "o4-mini",
        "chatgpt-4o-latest",
        "gpt-oss:20b",
        "openai.gpt-oss-120b-1:0",
        "ft:gpt-4o-mini:org::id",
        "gpt-4",
        "gpt-4-32k-0613",
        "gpt-3.5-turbo",
        "gpt-35-turbo",
        "text-embedding-3-small",
        "text-embedding-ada-002",
        "gpt-4all",
        "o100",
        "claude-opus-4",
        "qwen3:8b",
        "meta-llama/Llama-3.1-8B",
        "",
        "/",
    ];
    let lines: Vec<String> = names
        .iter()
        .map(|name| format!("{name}: {:?}\n", Vocabulary::of_model(name)))
        .collect();
    expect![[r"
        gpt-5: Some(O200k)
        openai/gpt-5: Some(O200k)
        openrouter/openai/gpt-5-mini:free: Some(O200k)
        gpt-4o-2024-08-06: Some(O200k)
        GPT-4.1: Some(O200k)
        o1: Some(O200k)
        o3-mini: Some(O200k)
        o4-mini: Some(O200k)
        chatgpt-4o-latest: Some(O200k)
        gpt-oss:20b: Some(O200k)
        openai.gpt-oss-120b-1:0: Some(O200k)
        ft:gpt-4o-mini:org::id: Some(O200k)
        gpt-4: Some(Cl100k)
        gpt-4-32k-0613: Some(Cl100k)
        gpt-3.5-turbo: Some(Cl100k)
        gpt-35-turbo: Some(Cl100k)
        text-embedding-3-small: Some(Cl100k)
        text-embedding-ada-002: Some(Cl100k)
        gpt-4all: None
        o100: None
        claude-opus-4: None
        qwen3:8b: None
        meta-llama/Llama-3.1-8B: None
        : None
        /: None
    "]]
    .assert_eq(&lines.concat());
}

#[test]
fn exact_counts() {
    let texts = [
        "hello world",
        "tiktoken is great!",
        "antidisestablishmentarianism",
        "2 + 2 = 4",
        "お誕生日おめでとう",
        "<|endoftext|>",
    ];
    let counts: Vec<String> = texts
        .iter()
        .map(|text| {
            format!(
                "{text}: {} {}\n",
                Vocabulary::Cl100k.count(text),
                Vocabulary::O200k.count(text)
            )
        })
        .collect();
    expect![[r"
        hello world: 2 2
        tiktoken is great!: 6 6
        antidisestablishmentarianism: 6 6
        2 + 2 = 4: 7 7
        お誕生日おめでとう: 9 8
        <|endoftext|>: 7 7
    "]]
    .assert_eq(&counts.concat());
}

#[test]
fn i11_a_picture_has_the_same_tokens_at_any_size() {
    let picture = |raw: String| Meter::estimate().block(&Block::Image(Image { raw }));
    let url = |letters: usize| {
        format!(
            r#"{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{}"}}}}"#,
            "A".repeat(letters)
        )
    };
    assert_eq!(picture(url(4)), IMAGE_TOKENS);
    assert_eq!(picture(url(1 << 20)), IMAGE_TOKENS);
    assert_eq!(
        picture(r#"{"image_url":{"url":"x","detail" : "low"}}"#.into()),
        IMAGE_LOW_TOKENS
    );
    assert_eq!(
        picture(r#"{"image_url":{"url":"\"detail\":\"low\"","detail":"high"}}"#.into()),
        IMAGE_TOKENS
    );
    assert_eq!(
        picture(r#"{"detail":"auto","alt":"detail"}"#.into()),
        IMAGE_TOKENS
    );
}

#[test]
fn a_file_counts_by_its_size_not_as_text() {
    let raw = |letters: usize| {
        format!(
            r#"{{"type":"input_audio","input_audio":{{"data":"{}","format":"wav"}}}}"#,
            "Ab9/".repeat(letters / 4)
        )
    };
    for meter in meters() {
        let small = meter.block(&Block::Other(raw(1_024)));
        let large = meter.block(&Block::Other(raw(680_000 + 1_024)));
        assert!((FILE_TOKENS..FILE_TOKENS + 100).contains(&small), "{small}");
        assert_eq!(large - small, 1_000);
        let prose = format!(
            r#"{{"type":"document","source":{{"type":"text","data":"{}"}}}}"#,
            "Words count as words. ".repeat(100)
        );
        assert_eq!(meter.block(&Block::Other(prose.clone())), meter.text(&prose));
    }
}

/// Planted: a file in a tool's result that counts as text; a tool's printed text that does not count.
#[test]
fn a_file_in_a_tool_result_counts_by_its_size_in_every_dialect() {
    let meter = Meter::estimate();
    for (letters, bound) in [(4_000, 1_200), (540_000, 1_200), (20 << 20, 22_000)] {
        let data = "Ab9/".repeat(letters / 4);
        let printed = serde_json::json!({"role": "tool", "tool_call_id": "t", "content": data});
        let url = format!("data:application/pdf;base64,{data}");
        let source = serde_json::json!({"type": "base64", "media_type": "application/pdf", "data": data});
        let result = serde_json::json!({"type": "tool_result", "tool_use_id": "t", "content": [{"type": "document", "source": source}]});
        for message in [
            serde_json::json!({"role": "user", "content": [result]}),
            serde_json::json!({"role": "tool", "tool_call_id": "t", "content": [{"type": "file", "file": {"file_data": url}}]}),
            serde_json::json!({"type": "function_call_output", "call_id": "t", "output": [{"type": "input_file", "file_data": url}]}),
        ] {
            let read = |message: &serde_json::Value| {
                read_message(Dialect::OpenAiResponses, &message.to_string()).unwrap()
            };
            let weight = meter.item(&read(&message));
            assert!((FILE_TOKENS..bound).contains(&weight), "{weight} of {letters}");
            assert!(letters > 600_000 || meter.item(&read(&printed)) > letters / 8);
        }
    }
}

#[test]
fn an_item_counts_its_text_and_its_framing() {
    let meter = Meter::for_model("gpt-5");
    assert_eq!(meter.item(&item(Block::Text("hello world".into()))), 6);
    assert_eq!(
        meter.item(&Item {
            role: Role::User,
            blocks: vec![],
            raw: None,
            edited: false
        }),
        4
    );
    assert!(meter.block(&call("", r#"{"path":"a.rs","line":12}"#)) > meter.block(&call("", "{}")));
    let id = "call_9aBx71kQ0zz";
    assert_eq!(meter.block(&call(id, "{}")), meter.block(&call("", "{}")));
    assert!(Meter::estimate().block(&call(id, "{}")) > Meter::estimate().block(&call("", "{}")));
    let outcome = Outcome {
        call_id: id.into(),
        text: "ok".into(),
        failed: false,
        images: 2,
    };
    assert_eq!(meter.block(&Block::Outcome(outcome)), 1 + 2 * IMAGE_TOKENS + 8);
}

#[test]
fn reasoning_counts_its_text_and_no_signature() {
    let meter = Meter::for_model("gpt-5");
    let thinking = |text: &str, raw: usize| {
        meter.block(&Block::Thinking(Thinking {
            text: text.into(),
            raw: "A".repeat(raw),
        }))
    };
    assert_eq!(thinking("hello world", 5_000), 2);
    assert_eq!(thinking("", 16_000), 3_000);
    assert_eq!(thinking("", 0), 0);
}

#[test]
fn an_empty_tool_list_counts_nothing() {
    for meter in meters() {
        assert_eq!(
            ["", " ", "[]", "{}", "null"].map(|json| meter.tools(json)),
            [0; 5]
        );
        let json = r#"[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}]"#;
        assert!(meter.tools(json) > meter.text(json));
    }
}

/// CM-4: equally many characters, different counts.
#[test]
fn cm_4_arguments_of_equal_length_count_by_content() {
    for meter in meters() {
        let counts =
            ["a".repeat(800), "😀".repeat(400)].map(|arguments| meter.item(&item(call("", &arguments))));
        assert_ne!(counts[0], counts[1]);
        assert!(
            meter.item(&item(call("", &"ab ".repeat(500)))) > meter.item(&item(call("", &"ab ".repeat(50))))
        );
    }
}

/// Nextest ends a test that takes a minute; a non-linear search would take hours.
#[test]
fn i11_counting_long_runs_is_linear() {
    for unit in [
        "a", " ", "\n", "1", "=", "字", "😀", "\0", "ᚠ", "\u{301}", "=-", " \t",
    ] {
        let text = unit.repeat((1 << 18) / unit.len());
        for meter in meters() {
            let tokens = meter.text(&text);
            assert!(tokens >= text.len() / 150, "{unit:?}: {tokens}");
            assert!(tokens <= text.len(), "{unit:?}: {tokens}");
        }
    }
}

/// B5 in small: texts of every kind, against the vocabularies in the binary.
#[test]
fn the_estimate_errs_on_the_safe_side() {
    let texts = [
        "The build fails only on the second run, when the cache directory already exists.",
        "Könntest du bitte zuerst den Test ansehen und mir sagen, was dir daran auffällt?",
        "Drugie uruchomienie kończy się błędem, ponieważ katalog pamięci podręcznej już istnieje.",
        "Второй запуск завершается ошибкой, потому что каталог кэша уже существует.",
        "Η δεύτερη εκτέλεση αποτυγχάνει, επειδή ο κατάλογος υπάρχει ήδη.",
        "يفشل التشغيل الثاني لأن مجلد الذاكرة المؤقتة موجود بالفعل.",
        "דוח הבדיקה השני נכשל כי התיקייה כבר קיימת.",
        "दूसरी बार चलाने पर त्रुटि आती है, क्योंकि कैश की निर्देशिका पहले से मौजूद है।",
        "การรันครั้งที่สองล้มเหลวเพราะมีโฟลเดอร์แคชอยู่แล้ว",
        "第二次运行失败了，因为缓存目录已经存在。",
        "キャッシュのディレクトリがすでに存在するため、二回目の実行が失敗します。",
        "캐시 디렉터리가 이미 존재해서 두 번째 실행이 실패합니다.",
        "ሁለተኛው ሙከራ አልተሳካም። ཐེངས་གཉིས་པ། მეორე გაშვება ჩაიშალა.",
        "😀🎉🚀👍🏽❤️🔥👩‍💻🏳️‍🌈🇩🇪🦀✅⚠️🧪",
        "fn main() {\n    let total: usize = rows.iter().map(|row| row.len()).sum();\n}\n",
        r#"{"id":"7f3a9c01","path":"src/a/b.rs","ok":true,"score":0.918273,"tags":["x","y"]}"#,
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "3141592653 5897932384 6264338327",
        "a\n\n\n\t\t\tb        c\n    d",
    ];
    for text in texts {
        let estimate = Meter::estimate().text(text);
        let truths = [
            Vocabulary::O200k.count(text),
            Vocabulary::Cl100k.count(text),
            bpe_openai::voyage3_base().count(text),
        ];
        for truth in truths {
            assert!(estimate * 100 >= truth * 95, "{text}: {estimate}, truly {truth}");
        }
        assert!(estimate <= text.len(), "{text}: {estimate}");
    }
}

proptest! {
    #[test]
    fn counts_equal_those_of_the_tables_own_library(text in text()) {
        prop_assert_eq!(Vocabulary::O200k.count(&text), bpe_openai::o200k_base().count(&*text));
        prop_assert_eq!(Vocabulary::Cl100k.count(&text), bpe_openai::cl100k_base().count(&*text));
    }
}

/// Text of any script, with runs, and with white space in all forms.
fn text() -> impl Strategy<Value = String> {
    let run = ("[a =\\-\n\t0😀字é\0]", 1..40usize).prop_map(|(unit, times)| unit.repeat(times));
    proptest::collection::vec(
        prop_oneof!["\\PC{0,20}", "[a-zA-Z ]{0,30}", ".{0,10}", run],
        0..12,
    )
    .prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn i11_counts_add_up(left in text(), right in text()) {
        let whole = format!("{left}{right}");
        for meter in meters() {
            let (a, b, both) = (meter.text(&left), meter.text(&right), meter.text(&whole));
            prop_assert!(both.abs_diff(a + b) <= 16, "{meter:?}: {a} + {b} is {both}");
            prop_assert!(both + 16 >= a, "{meter:?}: {a} became {both}");
            prop_assert!(both >= whole.len().div_ceil(128));
            prop_assert!(both <= whole.len());
            prop_assert_eq!(meter.text(""), 0);
        }
    }

    #[test]
    fn the_counts_of_lines_add_up_to_at_least_the_texts_count(lines in proptest::collection::vec(("[-#]", text()), 1..8)) {
        let lines: Vec<String> = lines.into_iter().map(|(mark, text)| format!("{mark} {}\n", text.replace('\n', " "))).collect();
        for meter in meters() {
            let sum: usize = lines.iter().map(|line| meter.text(line)).sum();
            let whole = meter.text(&lines.concat());
            prop_assert!(whole <= sum, "{meter:?}: {whole}, line by line {sum}");
        }
    }

    #[test]
    fn a_cached_count_belongs_to_its_own_text(texts in proptest::collection::vec((text(), 1..60usize), 1..6)) {
        let texts: Vec<String> = texts.iter().map(|(text, times)| text.repeat(*times)).collect();
        let alone = |meter: Meter, text: String| std::thread::spawn(move || meter.text(&text)).join().expect("it counts");
        for meter in meters() {
            for text in texts.iter().chain(&texts) {
                prop_assert_eq!(meter.text(text), alone(meter.clone(), text.clone()));
            }
        }
    }

    #[test]
    fn i12_the_next_estimate_is_the_usage_plus_the_new_tokens(
        counted in 1_000..1_000_000usize, share in 60..160usize, new in 0..100_000usize,
    ) {
        let reported = counted * share / 100;
        let mut calibration = Calibration::default();
        prop_assert_eq!(calibration.estimate(counted), counted);
        prop_assert!(calibration.record(counted, reported));
        prop_assert_eq!(calibration.estimate(counted), reported);
        let next = calibration.estimate(counted + new);
        prop_assert!(next >= reported + new.min(new * share / 100), "{next}");
        prop_assert!(next <= reported + new.max(new * share / 100 + 2), "{next}");
        calibration.forget_usage();
        let stale = calibration.estimate(counted + new);
        prop_assert!(stale.abs_diff((counted + new) * reported / counted) <= 2, "{stale}");
    }

    #[test]
    fn i12_any_reports_leave_sane_estimates(reports in proptest::collection::vec((any::<usize>(), any::<usize>()), 0..20), counted: usize) {
        let mut calibration = Calibration::default();
        for (counted, reported) in reports {
            calibration.record(counted, reported);
            prop_assert!(calibration.estimate(counted) >= counted / 5);
        }
        prop_assert_eq!(Calibration::default().estimate(counted), counted);
    }
}

#[test]
fn i12_outlying_reports_are_ignored_until_they_persist() {
    let mut calibration = Calibration::default();
    assert!(!calibration.record(10_000, 0), "a backend that reports nothing");
    assert!(!calibration.record(0, 10), "nothing was counted");
    assert!(calibration.record(10_000, 9_000));
    assert!(!calibration.record(12_000, 5_000), "without what was cached");
    assert!(!calibration.record(12_000, 5_000));
    assert_eq!(calibration.estimate(10_000), 9_000);
    assert!(
        calibration.record(12_000, 5_000),
        "it is what the backend always reports"
    );
    assert_eq!(calibration.estimate(12_000), 5_000);
}

#[test]
fn i12_one_outlying_growth_changes_nothing() {
    let mut calibration = Calibration::default();
    for (counted, reported) in [
        (10_000, 9_000),
        (11_000, 9_900),
        (12_000, 10_800),
        (13_000, 12_800),
    ] {
        assert!(calibration.record(counted, reported));
    }
    assert_eq!(
        calibration.estimate(14_000),
        13_700,
        "growths of 0.9, 0.9 and 2.0"
    );
    calibration.record(14_000, 13_700);
    calibration.record(15_000, 14_500);
    assert_eq!(calibration.estimate(16_000), 15_400, "and of 0.9 and 0.8");
}

#[test]
fn i12_growth_teaches_its_own_ratio() {
    let mut calibration = Calibration::default();
    calibration.record(10_000, 8_000);
    assert_eq!(
        calibration.estimate(11_000),
        8_900,
        "new text between its full weight and the whole's until growth was seen"
    );
    calibration.record(11_000, 8_900);
    assert_eq!(calibration.estimate(12_000), 9_800);
    calibration.record(10_000, 8_000);
    assert_eq!(calibration.estimate(10_500), 8_450);
}

/// B5 in small: cl100k plays the backend; the meter has only the estimate. The items are code, and prose of every script.
#[test]
fn i12_reports_bring_the_estimate_within_two_percent() {
    let head = include_str!("item.rs");
    let sources = concat!(
        include_str!("estimate.rs"),
        include_str!("../../benches/error/texts.rs")
    );
    let count = |text: &str| (Meter::estimate().text(text), Vocabulary::Cl100k.count(text));
    let mut calibration = Calibration::default();
    let (mut counted, mut reported) = count(head);
    let mut errors: Vec<f64> = Vec::new();
    for item in sources.lines().collect::<Vec<_>>().chunks(10) {
        calibration.record(counted, reported);
        let new = count(&item.join("\n"));
        (counted, reported) = (counted + new.0, reported + new.1);
        errors.push(calibration.estimate(counted) as f64 / reported as f64 - 1.0);
    }
    assert!(errors.len() > 40);
    assert!(errors.iter().all(|error| *error >= -0.05), "{errors:?}");
    errors.sort_by(|left, right| left.abs().total_cmp(&right.abs()));
    assert!(errors[errors.len() * 95 / 100].abs() <= 0.02, "{errors:?}");
}

#[test]
fn the_first_name_with_a_known_vocabulary_decides() {
    let named = |names: &[&str]| Meter::for_models(names).0.to_owned();
    assert_eq!(
        named(&["default", "Meta-Llama-3.1-8B-Instruct-Q4_K_M"]),
        "Meta-Llama-3.1-8B-Instruct-Q4_K_M"
    );
    assert_eq!(named(&["gpt-5", "Llama-3.1-8B"]), "gpt-5");
    assert_eq!(named(&["mine", "tiny"]), "mine");
    assert_eq!(named(&[]), "");
    let text = "Où sont passées les chèvres ? ".repeat(20);
    let counts = |names: &[&str]| Meter::for_models(names).1.text(&text);
    assert!(counts(&["default", "Meta-Llama-3.1-8B"]) < counts(&["default", "fake"]));
}

#[test]
fn a_rough_count_has_a_small_margin_and_an_exact_one_has_none() {
    let prose =
        &"2026-03-01, user: We went to the harbour with Nora on Monday, and had fish soup for 12 euros.\n"
            .repeat(9);
    let exact = Vocabulary::O200k.count(prose);
    let rough = Meter::estimate().roughly(prose);
    assert!((exact..=exact * 11 / 10).contains(&rough), "{rough} of {exact}");
    let safe = Meter::estimate().text(prose);
    assert!(safe <= rough * 5 / 4 + 1, "{safe}, {rough}");
    assert_eq!(Meter::for_model("gpt-5").roughly(prose), exact);
}
