//! Error of each count by kind of text and true vocabulary: `cargo bench -p context --bench error`.
//!
//! Owns: the tables. Files of more true vocabularies can be named: `-- NAME=tokenizer.json ...`. Never: files of other
//! people in the repository.
#![expect(clippy::disallowed_methods, reason = "measuring reads the real clock")]
#![expect(clippy::print_stdout, reason = "a measurement's result is what it prints")]

mod texts;

use std::time::Instant;

use context::tokens::{Calibration, Meter, Vocabulary};
use texts::{Dice, KINDS, transcript};

const SAMPLES: usize = 60;
const TRANSCRIPTS: usize = 60;

type Count = Box<dyn Fn(&str) -> usize>;

/// A vocabulary that a bench can count with, under the name of a model that uses it.
struct Truth {
    model: String,
    count: Count,
}

struct Baseline {
    name: &'static str,
    /// Counts a text for a model: `(model, text)`.
    count: fn(&str, &str) -> usize,
}

const BASELINES: &[Baseline] = &[
    Baseline {
        name: "estimate for the model",
        count: |model, text| Meter::for_model(model).text(text),
    },
    Baseline {
        name: "estimate for any",
        count: |_, text| Meter::estimate().text(text),
    },
    Baseline {
        name: "chars / 4",
        count: |_, text| text.chars().count().div_ceil(4),
    },
    Baseline {
        name: "max(cl100k × 1.25, bytes / 3) + 16",
        count: |_, text| (Vocabulary::Cl100k.count(text) * 5 / 4).max(text.len() / 3) + 16,
    },
];

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    cost();
    let truths = truths()?;
    by_kind(&truths);
    by_truth(&truths);
    calibrated(&truths);
    Ok(())
}

fn truths() -> Result<Vec<Truth>, Box<dyn std::error::Error + Send + Sync>> {
    let mut truths: Vec<Truth> = vec![
        Truth {
            model: "o200k".into(),
            count: Box::new(|text| Vocabulary::O200k.count(text)),
        },
        Truth {
            model: "cl100k".into(),
            count: Box::new(|text| Vocabulary::Cl100k.count(text)),
        },
        Truth {
            model: "qwen3".into(),
            count: Box::new(|text| bpe_openai::voyage3_base().count(text)),
        },
    ];
    for (name, path) in std::env::args()
        .skip(1)
        .filter_map(|word| word.split_once('=').map(own))
    {
        let mut tokenizer = tokenizers::Tokenizer::from_bytes(std::fs::read(path)?)?;
        // Files made for embedding cut or fill every text to one length.
        tokenizer.with_truncation(None)?.with_padding(None);
        truths.push(Truth {
            model: name,
            count: Box::new(move |text| {
                tokenizer
                    .encode_fast(text, false)
                    .map_or(0, |tokens| tokens.len())
            }),
        });
    }
    Ok(truths)
}

fn own((name, path): (&str, &str)) -> (String, String) {
    (name.to_owned(), path.to_owned())
}

/// Cost of the tables, and speed of counting.
fn cost() {
    println!("| step | ms | resident MiB after |\n|---|---|---|");
    let timed = |name: &str, work: &dyn Fn() -> usize| {
        let start = Instant::now();
        std::hint::black_box(work());
        println!(
            "| {name} | {:.1} | {} |",
            start.elapsed().as_secs_f64() * 1e3,
            resident_mib()
        );
    };
    timed("nothing", &|| 0);
    timed("load o200k", &|| Vocabulary::O200k.count("a"));
    timed("load cl100k", &|| Vocabulary::Cl100k.count("a"));
    let mut dice = Dice(3);
    let mixed: String = (0..40).flat_map(|_| transcript(&mut dice)).collect::<String>();
    let mega = mixed[..mixed.floor_char_boundary(1 << 20)].to_owned();
    timed("1 MiB of transcript, o200k", &|| Vocabulary::O200k.count(&mega));
    timed("1 MiB of transcript, estimate", &|| Meter::estimate().text(&mega));
    for unit in ["a", " ", "\n", "1", "=", "字", "é", "😀", "\0", "aB"] {
        let text = unit.repeat((1 << 20) / unit.len());
        timed(&format!("1 MiB of {unit:?}, o200k"), &|| {
            Vocabulary::O200k.count(&text)
        });
        timed(&format!("1 MiB of {unit:?}, estimate"), &|| {
            Meter::estimate().text(&text)
        });
    }
    println!();
}

fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096 / (1 << 20)
}

fn by_kind(truths: &[Truth]) {
    println!(
        "Signed error in % of the truth, over {} vocabularies: p5 / p50 / p95 / worst under-estimate\n",
        truths.len()
    );
    header("kind", BASELINES.iter().map(|baseline| baseline.name));
    for kind in KINDS {
        let mut dice = Dice(11);
        let samples: Vec<String> = (0..SAMPLES).map(|_| (kind.make)(&mut dice)).collect();
        let cells = BASELINES.iter().map(|baseline| {
            let pairs = truths
                .iter()
                .flat_map(|truth| samples.iter().map(move |text| (truth, text)));
            spread(
                pairs
                    .map(|(truth, text)| error((baseline.count)(&truth.model, text), (truth.count)(text)))
                    .collect(),
            )
        });
        row(kind.name, cells);
    }
    println!();
}

fn by_truth(truths: &[Truth]) {
    println!("The same by vocabulary, over all kinds\n");
    header("vocabulary", BASELINES.iter().map(|baseline| baseline.name));
    for truth in truths {
        let cells = BASELINES.iter().map(|baseline| {
            let mut dice = Dice(11);
            let texts = KINDS.iter().flat_map(|kind| (0..SAMPLES).map(move |_| kind));
            let errors = texts
                .map(|kind| (kind.make)(&mut dice))
                .map(|text| error((baseline.count)(&truth.model, &text), (truth.count)(&text)));
            spread(errors.collect())
        });
        row(&truth.model, cells);
    }
    println!();
}

/// A conversation grows by two items a request; the backend reports every request; half of it is compacted away at its end.
fn calibrated(truths: &[Truth]) {
    println!("Whole requests of {TRANSCRIPTS} transcripts, usage reported after each\n");
    header(
        "model: meter",
        ["before any report", "with reports", "just compacted"].into_iter(),
    );
    for truth in truths {
        for (name, meter) in [
            ("estimate for it", Meter::for_model(&truth.model)),
            ("o200k", Meter::for_model("gpt-5")),
        ] {
            let mut dice = Dice(5);
            let mut errors = [Vec::new(), Vec::new(), Vec::new()];
            for _ in 0..TRANSCRIPTS {
                let weigh = |text: &String| (meter.text(text), (truth.count)(text));
                converse(
                    &transcript(&mut dice).iter().map(weigh).collect::<Vec<_>>(),
                    &mut errors,
                );
            }
            row(
                &format!("{}: {name}", truth.model),
                errors.into_iter().map(spread),
            );
        }
    }
}

/// One conversation of items, each with the meter's count and the backend's.
fn converse(items: &[(usize, usize)], [first, next, compacted]: &mut [Vec<f64>; 3]) {
    let total = |items: &[(usize, usize)]| {
        items
            .iter()
            .fold((0, 0), |sum, item| (sum.0 + item.0, sum.1 + item.1))
    };
    let mut calibration = Calibration::default();
    for end in (2..=items.len()).step_by(2) {
        let (counted, reported) = total(&items[..end]);
        let errors = if end == 2 { &mut *first } else { &mut *next };
        errors.push(error(calibration.estimate(counted), reported));
        calibration.record(counted, reported);
    }
    calibration.forget_usage();
    let (head, tail) = (total(&items[..1]), total(&items[items.len() / 2..]));
    compacted.push(error(calibration.estimate(head.0 + tail.0), head.1 + tail.1));
}

fn header<'a>(first: &str, names: impl Iterator<Item = &'a str>) {
    let names: Vec<&str> = names.collect();
    println!(
        "| {first} | {} |\n|---|{}",
        names.join(" | "),
        "---|".repeat(names.len())
    );
}

fn row(name: &str, cells: impl Iterator<Item = String>) {
    println!("| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
}

fn error(counted: usize, truth: usize) -> f64 {
    100.0 * (counted as f64 - truth as f64) / truth as f64
}

fn spread(mut errors: Vec<f64>) -> String {
    errors.sort_by(f64::total_cmp);
    let at = |percent: usize| errors[(errors.len() - 1) * percent / 100];
    format!("{:+.1} / {:+.1} / {:+.1} / {:+.1}", at(5), at(50), at(95), at(0))
}
