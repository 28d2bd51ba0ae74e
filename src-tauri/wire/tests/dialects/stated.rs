//! What a failure's words state of the provider's bounds (`stated.txt`), in every dialect.

use wire::{Dialect, format};

#[test]
fn windows_and_limits_as_providers_state_them() {
    let table = include_str!("stated.txt");
    let (mut windows, mut limits) = (0, 0);
    let mut lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    while let Some(head) = lines.next() {
        let body = lines.next().unwrap();
        let [status, window, limit, _from] =
            head.split('|').map(str::trim).collect::<Vec<_>>().try_into().unwrap();
        for dialect in Dialect::ALL {
            let error =
                format(*dialect).decode_error(status.parse().unwrap(), "application/json", body.as_bytes());
            let found = error.context_window().map_or("-".to_owned(), |tokens| tokens.to_string());
            assert_eq!(found, window, "{body}: {error:?}");
            let found = error.stated_limit().map_or("-".to_owned(), |limit| {
                let used = limit.used.map(|used| format!(" used {used}")).unwrap_or_default();
                let axis = serde_json::to_value(limit.axis).unwrap();
                format!("{} {} in {}s{used}", limit.allowed, axis.as_str().unwrap(), limit.window.as_secs())
            });
            assert_eq!(found, limit, "{body}: {error:?}");
        }
        windows += u32::from(window != "-");
        limits += u32::from(limit != "-");
    }
    assert!(windows >= 30, "{windows} windows");
    assert!(limits >= 12, "{limits} limits");
}
