use super::*;

#[test]
fn a_number_is_a_constant_distribution() {
    let constant: Distribution = serde_json::from_str("10000").expect("a number");
    assert_eq!(constant, Distribution::Constant(10_000));
}
