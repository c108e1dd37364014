//! A year of three people who use Quipu without a chat model, on a clock that the run moves.
//!
//! Owns: the days, and the time between two actions. Never: an action (`deeds`), a sentence (`sentences`), a measure
//! (`sizes`), or a check (`proofs`).

mod deeds;
mod person;
mod proofs;
mod sentences;
mod sizes;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use memory::{Engine, EngineError};
use ports::Clock as _;

use crate::dice::Dice;
use crate::world::{Held, World};
use person::Person;
use sizes::{Sizes, growth};

/// Days from the first day of the clock to the next first of January, on which the year begins.
const TO_JANUARY: i64 = 305;
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;
/// Days after which the sizes are printed, besides the last day.
const MARKS: [u32; 2] = [30, 180];
/// The process starts anew after this many days.
const RESTART_DAYS: u32 = 30;
/// Nobody chats in one of this many weeks.
const QUIET_WEEKS: u32 = 13;
/// The number of the first week in which nobody chats.
const QUIET_WEEK: u32 = 7;
/// How far the clock moves at once.
const PIECE: Duration = Duration::from_mins(20);
/// Turns of other tasks between two looks at the open work, and the maximum number of looks.
const TURNS: usize = 60;
const LOOKS_MAX: usize = 40;
const NIGHT: Duration = Duration::from_hours(11);

/// A year: its seed and its number of days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct YearPlan {
    pub seed: u64,
    pub days: u32,
}

/// The command line that repeats the year.
impl fmt::Display for YearPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cargo run -p sim -- --year --seed {} --days {}",
            self.seed, self.days
        )
    }
}

/// Runs a year to its end and passes each printed line to `tell`. It must be alone on its thread. The error names every
/// broken promise, and the command line.
///
/// # Panics
/// When there is no temporary folder, or a part of Quipu panics where a client would see it.
pub fn year(plan: YearPlan, tell: &mut dyn FnMut(String)) -> Result<(), String> {
    let mut year = Year::new(plan, tell);
    let runtime = year.world.runtime();
    let ended = runtime.block_on(year.all());
    ended.map_err(|broken| format!("{broken}\n{plan}"))
}

/// A year under way.
struct Year<'a> {
    plan: YearPlan,
    dice: Arc<Dice>,
    world: World,
    people: Vec<Person>,
    tell: &'a mut dyn FnMut(String),
    /// Number of the present day, from 1.
    day: u32,
    /// Number of acknowledged messages.
    said: usize,
    /// Number of messages deleted on request.
    forgotten: usize,
    /// Number of messages that Quipu took for forgotten ones that are sent again.
    left_out: usize,
    /// Number of unusual names given so far.
    names: usize,
    sizes: Vec<Sizes>,
    /// Promises that broke before the last day.
    broken: Vec<String>,
}

impl<'a> Year<'a> {
    fn new(plan: YearPlan, tell: &'a mut dyn FnMut(String)) -> Self {
        let dice = Arc::new(Dice::new(plan.seed));
        let world = World::without_model(&dice);
        world.clock.set_wall(TO_JANUARY * DAY_MILLIS);
        Self {
            plan,
            people: Person::all(&dice, plan.days),
            dice,
            world,
            tell,
            day: 0,
            said: 0,
            forgotten: 0,
            left_out: 0,
            names: 0,
            sizes: Vec::new(),
            broken: Vec::new(),
        }
    }

    async fn all(&mut self) -> Held {
        self.start().await?;
        for day in 1..=self.plan.days {
            self.day = day;
            self.one_day()
                .await
                .map_err(|error| format!("day {day}: {error}"))?;
        }
        for line in growth(&self.sizes) {
            (self.tell)(line);
        }
        let mut broken = std::mem::take(&mut self.broken);
        broken.extend(self.proofs().await?);
        self.world.stop().await?;
        if broken.is_empty() {
            Ok(())
        } else {
            Err(broken.join("\n"))
        }
    }

    /// A day from nine o'clock to nine o'clock.
    async fn one_day(&mut self) -> Held {
        let is_quiet = self.day / 7 % QUIET_WEEKS == QUIET_WEEK;
        for number in 0..self.people.len() {
            let person = &mut self.people[number];
            if !is_quiet && person.chats(&self.dice, self.day) || person.has_to_say(self.day) {
                self.chat(number).await?;
            }
            let minutes = 40 + self.dice.below(100) as u64;
            self.pass(Duration::from_mins(minutes)).await?;
        }
        self.write_by_hand().await?;
        self.forget_due().await?;
        self.pass_until(NIGHT).await?;
        let is_mark = MARKS.contains(&self.day) || self.day == self.plan.days;
        if is_mark {
            self.mark().await
        } else {
            self.pass_until(Duration::ZERO).await?;
            if self.day.is_multiple_of(RESTART_DAYS) {
                self.restart().await?;
            }
            Ok(())
        }
    }

    async fn start(&mut self) -> Held {
        if self.world.start().await? {
            Ok(())
        } else {
            Err("the process does not start".to_owned())
        }
    }

    async fn restart(&mut self) -> Held {
        if !self.world.stop().await? {
            return Err("the process does not stop".to_owned());
        }
        self.start().await
    }

    fn engine(&self) -> Engine {
        self.world.process().engine.clone()
    }

    /// The answer of a request.
    async fn answer<T>(&self, request: impl Future<Output = Result<T, EngineError>>) -> Held<T> {
        let answer = self.world.drive(request).await?;
        answer.map_err(|error| error.to_string())
    }

    /// Lets time pass until this long before the day ends, if that time is still to come.
    async fn pass_until(&mut self, before_end: Duration) -> Held {
        let end = Duration::from_hours(24) * self.day;
        let left = end
            .saturating_sub(before_end)
            .saturating_sub(self.world.clock.elapsed());
        self.pass(left).await
    }

    /// Lets time pass. All work that is due ends before the clock moves on.
    async fn pass(&mut self, time: Duration) -> Held {
        let mut left = time;
        while !left.is_zero() {
            let piece = left.min(PIECE);
            self.world.clock.advance(piece);
            left -= piece;
            self.calm().await?;
        }
        Ok(())
    }

    /// Waits until no work goes on. Work that waits for its own time is left to wait.
    async fn calm(&mut self) -> Held {
        let ledger = self.world.ledger()?;
        for _ in 0..LOOKS_MAX {
            self.world.breathe(TURNS).await;
            let jobs = ledger.jobs.stats().await.map_err(|error| error.to_string())?;
            let runs = self.world.process().offline.stats().await;
            let runs = runs.map_err(|error| error.to_string())?;
            if jobs.queued + jobs.processing + runs.running == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Waits until all work is done and every file is searchable.
    async fn settle(&mut self) -> Held {
        let engine = self.engine();
        let failed = self.answer(engine.settle()).await?;
        if failed > 0 {
            return Err(format!("{failed} jobs were given up"));
        }
        self.answer(engine.sync()).await.map(drop)
    }
}
