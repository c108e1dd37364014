//! Random numbers that are the same in every run.
//!
//! Owns: one generator of numbers, and the made-up words, paths and sentences drawn from it. Never: the
//! machine's randomness.

/// A linear congruential generator.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Neighbouring seeds give unrelated numbers.
    pub fn new(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(7919).wrapping_add(17));
        dice.roll(2);
        dice
    }

    /// A number below `sides`; 0 if there is none.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % sides.max(1)
    }

    pub(crate) fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.roll(choices.len())]
    }

    /// A made-up word.
    pub(crate) fn word(&mut self) -> String {
        let syllables = 3 + self.roll(2);
        (0..syllables)
            .map(|_| {
                self.of(&[
                    "ba", "ko", "ri", "tem", "lu", "san", "ve", "dor", "mi", "pha", "qu", "zel",
                ])
            })
            .collect()
    }

    pub(crate) fn hex(&mut self, digits: usize) -> String {
        (0..digits)
            .map(|_| char::from_digit(u32::try_from(self.roll(16)).unwrap_or(0), 16).unwrap_or('0'))
            .collect()
    }

    pub(crate) fn path(&mut self) -> String {
        let folder = self.of(&[
            "src",
            "lib/core",
            "app/models",
            "services/billing",
            "tests",
            "web/components",
        ]);
        let extension = self.of(&["rs", "py", "ts", "go", "java"]);
        format!("{folder}/{}.{extension}", self.word())
    }

    pub(crate) fn ideographs(&mut self, count: usize) -> String {
        let all: Vec<char> =
            "缓存队列服务器数据库索引日志请求用户订单支付网关线程内存磁盘备份迁移版本接口任务调度权限"
                .chars()
                .collect();
        (0..count).map(|_| all[self.roll(all.len())]).collect()
    }
}
