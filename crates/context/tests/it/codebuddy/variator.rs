//! Conformance with code-buddy's `ObservationVariator` (OV-1 to OV-3).

use context::variator::Variator;

#[test]
fn the_templates_cycle_by_turn() {
    let mut variator = Variator::default();
    let tool = [
        "Result from ls:\na",
        "Output of ls:\n---\na\n---",
        "[ls] returned:\na",
    ];
    let memory = [
        "Relevant memory context:\nm",
        "From memory:\nm",
        "Recalled context:\nm",
    ];
    for turn in 0..7 {
        for _ in 0..2 {
            assert_eq!(variator.outcome("ls", "a").into_text(), tool[turn % 3]);
            assert_eq!(variator.memory("m").into_text(), memory[turn % 3]);
        }
        variator.next_turn();
    }
    assert_eq!(Variator::at(7), variator);
    variator.reset();
    assert_eq!(variator.turn(), 0);
    assert_eq!(variator.outcome("l\ns", "a").into_text(), "Result from l s:\na");
}
