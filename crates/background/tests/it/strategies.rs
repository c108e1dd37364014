//! The strategies on a real engine and a real offline engine, over fakes that outlive both.

mod agents;
mod cost;
mod forms;
mod kills;
mod stage;
