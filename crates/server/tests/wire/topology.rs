//! `/topology` and `/cluster/topology`

use super::support::Wire;

#[test]
fn a_database_is_on_this_node_under_the_address_that_was_asked() {
    let wire = Wire::with_database();
    let url = format!("http://{}", wire.address);
    let expected = format!(
        r#"{{"Promotables":[],"Nodes":[{{"Url":"{url}","ClusterTag":"A","ServerRole":"Member","Database":"db","ServerVersion":"7.1.5.71028"}}],"Etag":2}}"#
    );
    let line = "GET /topology?name=DB&first-topology-update&applicationIdentifier=x";
    let etag = wire.call(line, "").json().get("Etag").unwrap().as_i64().unwrap();
    wire.check(line, "", 200, &expected.replace("\"Etag\":2", &format!("\"Etag\":{etag}")));
    let named = wire.call("GET /topology?name=db&localUrl=http%3A%2F%2Fravens%3A81", "").text();
    assert!(named.contains(r#"{"Url":"http://ravens:81","#), "{named}");
    let missing =
        wire.check("GET /topology?name=none", "", 503, r#"{"Type":"Error","Message":"Database none wasn't found"}"#);
    assert_eq!(missing.header("database-missing"), Some("none"));
    let refresh = |header: &str| {
        wire.call_with("GET /databases/db/docs?id=x", &[header], b"").header("refresh-topology").is_some()
    };
    assert!(refresh("Topology-Etag: \"0\""));
    assert!(!refresh(&format!("Topology-Etag: \"{etag}\"")));
    assert!(!refresh("Topology-Etag: \"None\""));
}

#[test]
fn the_cluster_is_one_node() {
    let wire = Wire::start();
    let topology = wire.call("GET /cluster/topology?first-topology-update", "").json();
    for key in ["Topology", "Etag", "Leader", "NodeTag", "Status"] {
        assert!(topology.get(key).is_some(), "{key}");
    }
    for key in ["TopologyId", "AllNodes", "Members", "Promotables", "Watchers", "LastNodeId", "Etag"] {
        assert!(topology.get("Topology").unwrap().get(key).is_some(), "{key}");
    }
}
