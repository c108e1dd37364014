//! Random histories: the real index always holds the same rows as the in-memory one.

use model::{Doc, DocKey, Scope};
use ports::Index;
use testkit::index::MemoryIndex;
use testkit::index::samples::{embedder, key, turn, user, with_vector};

use crate::{load, open, sorted, words};

const OWNERS: [&str; 3] = ["ann", "bob", "a.b@c"];

#[tokio::test]
async fn any_history_ends_in_the_same_rows() {
    for seed in 1..=4 {
        history(seed).await;
    }
}

async fn history(seed: u64) {
    let mut random = Random(seed);
    let root = tempfile::tempdir().expect("a folder");
    let mut real = open(root.path());
    let fake = MemoryIndex::new(embedder());
    for step in 0..16 {
        match random.below(11) {
            10 => real.erase().await.expect("erases"),
            0 => real = open(root.path()),
            1 => real.maintain().await.expect("maintains"),
            2 => {
                let rows = fake.rows();
                let mut stage = real.stage(&embedder()).await.expect("stages");
                for docs in rows.chunks(7) {
                    stage.add(docs).await.expect("adds");
                }
                stage.publish().await.expect("publishes");
            }
            _ => {
                let (add, remove) = random.write();
                real.apply(&add, &remove).await.expect("applies");
                fake.apply(&add, &remove).await.expect("applies");
            }
        }
        let owner = OWNERS[step % OWNERS.len()];
        let want = fake.load(&Scope::default(), &user(owner)).await.expect("loads");
        assert_eq!(
            load(&real, owner).await,
            sorted(want),
            "seed {seed}, step {step}, {owner}"
        );
    }
    for owner in OWNERS {
        let want = fake.candidates(&words(owner, "tea")).await.expect("searches");
        let found = real.candidates(&words(owner, "tea")).await.expect("searches");
        assert_eq!(sorted(found), sorted(want), "seed {seed}, {owner}");
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// Some rows, some of them over others, and some removals; everything added is removed first, as the port asks.
    fn write(&mut self) -> (Vec<Doc>, Vec<DocKey>) {
        let mut add: Vec<Doc> = Vec::new();
        for _ in 0..self.below(12) {
            let owner = OWNERS[usize::try_from(self.below(3)).expect("small")];
            let id = format!("it's {}", self.below(20));
            let text =
                ["green tea", "coffee", "teas and \u{0} 🎻"][usize::try_from(self.below(3)).expect("small")];
            let doc = turn(owner, &id, text);
            if add.iter().all(|have| have.key != doc.key) {
                add.push(match self.below(2) {
                    0 => doc,
                    _ => with_vector(doc, [self.below(9) as f32, 1.0, 0.0, 0.5]),
                });
            }
        }
        let mut remove: Vec<DocKey> = add.iter().map(|doc| doc.key.clone()).collect();
        for _ in 0..self.below(4) {
            remove.push(key(
                OWNERS[usize::try_from(self.below(3)).expect("small")],
                &format!("it's {}", self.below(20)),
            ));
        }
        (add, remove)
    }
}
