use super::*;

#[test]
fn a_scenario_names_them_by_their_modules() {
    let json = r#"{"kind":"poisson","gap_ns":28650000,"size_bytes":{"distribution":"web_search"},"strata":1,"count":null}"#;
    let config: TrafficConfig = serde_json::from_str(json).expect("it is declared");
    assert_eq!(config.name(), "poisson");
    assert_eq!(serde_json::to_string(&config).expect("JSON"), json);
    assert_eq!(config.check(), Ok(()));
}
