use jiff::Timestamp;

/// `p<YYYYMMDD>-<HHMMSS>-<8 hex>`, UTC: sorts by time, and is safe in a URL, a file name and a shell.
///
/// The random part tells panels of one second apart. A time outside the years 0 to 9999 is the epoch.
pub fn panel_id(unix_ms: i64, random: u32) -> String {
    id('p', unix_ms, random)
}

/// `r<YYYYMMDD>-<HHMMSS>-<8 hex>`, UTC: a routed conversation. Its calls are `<conversation>.1`, `.2`, …: one for each
/// model that answered in it; a shadow's is `<conversation>.1.s1`.
pub fn conversation_id(unix_ms: i64, random: u32) -> String {
    id('r', unix_ms, random)
}

fn id(kind: char, unix_ms: i64, random: u32) -> String {
    let time = Timestamp::from_millisecond(unix_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    let time = if time < Timestamp::UNIX_EPOCH { Timestamp::UNIX_EPOCH } else { time };
    format!("{kind}{}-{random:08x}", time.strftime("%Y%m%d-%H%M%S"))
}

/// `<panel>.<seat>`: `p20261129-154501-9f3a6c01.member1`. What a verdict is about.
pub fn call_id(panel: &str, seat: &str) -> String {
    format!("{panel}.{seat}")
}

/// The panel a call id belongs to, if the text is a call id at all.
pub fn panel_of(call: &str) -> Option<&str> {
    let (panel, seat) = call.split_once('.')?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.';
    let seat_is_plain = seat.starts_with(|c: char| c.is_ascii_lowercase()) && seat.chars().all(plain);
    (valid_panel_id(panel) && seat_is_plain && seat.len() <= 32).then_some(panel)
}

/// Whether a text from outside has a panel id's form.
pub fn valid_panel_id(id: &str) -> bool {
    let hex = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    let form = b"pdddddddd-dddddd-xxxxxxxx";
    id.len() == form.len()
        && id.bytes().zip(form).all(|(c, kind)| match kind {
            b'd' => c.is_ascii_digit(),
            b'x' => hex(c),
            kind => c == *kind,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_made_of_time_and_chance() {
        for (ms, random, wanted) in [
            (0, 0, "p19700101-000000-00000000"),
            (1_795_967_101_999, 0x9f3a_6c01, "p20261129-154501-9f3a6c01"),
            (951_827_696_000, u32::MAX, "p20000229-123456-ffffffff"),
            (-1, 1, "p19700101-000000-00000001"),
            (i64::MAX, 1, "p19700101-000000-00000001"),
        ] {
            let id = panel_id(ms, random);
            assert_eq!(id, wanted);
            assert!(valid_panel_id(&id), "{id}");
        }
    }

    #[test]
    fn a_conversation_is_told_from_a_panel_by_its_first_letter() {
        assert_eq!(conversation_id(1_795_967_101_999, 0x9f3a_6c01), "r20261129-154501-9f3a6c01");
        assert!(!valid_panel_id("r20261129-154501-9f3a6c01"));
    }

    #[test]
    fn a_call_belongs_to_its_panel() {
        let panel = "p20261129-154501-9f3a6c01";
        for seat in ["member1", "explorer", "explorer2", "merger", "member1.r1"] {
            assert_eq!(panel_of(&call_id(panel, seat)), Some(panel), "{seat}");
        }
        for other in ["", panel, "p.member1", "p20261129-154501-9f3a6c01.", "p20261129-154501-9f3a6c01.a/b"] {
            assert_eq!(panel_of(other), None, "{other}");
        }
        for bad in ["p20261129-154501-9F3A6C01", "x20261129-154501-9f3a6c01", "p20261129-154501-9f3a6c0é"] {
            assert!(!valid_panel_id(bad), "{bad}");
        }
    }
}
