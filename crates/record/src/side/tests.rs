use super::*;

fn series() -> Series {
    let column = |first: u64| vec![first, first + 1];
    Series {
        step_ns: 1,
        at_ns: column(10),
        bytes_sent: column(20),
        bytes_received: column(30),
        messages_sent: column(40),
        messages_received: column(50),
        transactions: column(60),
        socket_drops: column(70),
        queue_drops: column(80),
        cpu_busy_ns: column(90),
        tcp: Vec::new(),
    }
}

/// Exports and figures take the columns by these names, files have the names of the fields.
#[test]
fn each_counter_over_time_is_named_as_it_is_stored() {
    let series = series();
    let stored = serde_json::to_value(&series).unwrap();
    for column in series.columns() {
        assert_eq!(stored[column.name], serde_json::json!(column.values), "{}", column.name);
    }
    let others = ["step_ns", "at_ns"];
    assert_eq!(stored.as_object().unwrap().len(), series.columns().len() + others.len());
}

#[test]
fn a_table_with_a_value_too_many_or_too_few_is_refused_by_the_name_of_its_column() {
    let whole = serde_json::to_value(series()).unwrap();
    assert_eq!(Series::read(&whole.to_string()).unwrap(), series());
    for column in series().columns() {
        for values in [vec![1], vec![1, 2, 3]] {
            let mut odd = whole.clone();
            odd[column.name] = serde_json::json!(values);
            let error = Series::read(&odd.to_string()).unwrap_err().to_string();
            let told = format!("{} has {} values for 2 moments", column.name, values.len());
            assert!(error.contains(&told), "{error}");
        }
    }
}

#[test]
fn a_run_of_a_build_that_did_not_count_bytes_from_others_is_read() {
    let turns = Turns {
        turn_ns: 5,
        settle_ns: 1,
        own: 0,
        turns: Vec::new(),
        response: Response::default(),
        from_others: 0,
    };
    let mut stored = serde_json::to_value(&turns).expect("turns are JSON");
    assert!(stored.as_object_mut().is_some_and(|fields| fields.remove("from_others").is_some()));
    assert_eq!(serde_json::from_value::<Turns>(stored).expect("it has every other field"), turns);
}
