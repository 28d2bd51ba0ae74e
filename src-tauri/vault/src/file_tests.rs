use std::sync::Arc;

use super::*;

/// The least work: tests are about bytes, not about strength.
const WORK: u8 = 2;
const KEY: &str = "sk-SECRET-0123456789";

fn passphrase(text: &str) -> SecretString {
    SecretString::from(text)
}

fn exposed(file: &VaultFile, endpoint: &str) -> Option<String> {
    file.read(endpoint).map(|key| key.expose_secret().to_owned())
}

fn made(directory: &Path) -> VaultFile {
    let file = VaultFile::new(directory, WORK);
    file.open(passphrase("correct horse")).expect("make");
    file.set("groq", &SecretString::from(KEY)).expect("set");
    file
}

fn error_of(outcome: Result<(), VaultError>) -> String {
    outcome.expect_err("should fail").to_string()
}

#[test]
fn keys_survive_in_the_file() {
    let directory = tempfile::tempdir().expect("tempdir");
    let file = made(directory.path());
    file.set("xai", &SecretString::from("xai-2")).expect("set");
    file.set("groq", &SecretString::from("gsk-3")).expect("replace");
    file.delete("never-there").expect("delete what is not there");

    let again = VaultFile::new(directory.path(), WORK);
    assert!(again.exists() && !again.is_open());
    assert_eq!(exposed(&again, "groq"), None, "locked");
    assert!(matches!(again.set("groq", &SecretString::from("x")), Err(VaultError::Locked)));
    again.open(passphrase("correct horse")).expect("unlock");
    assert_eq!(exposed(&again, "groq").as_deref(), Some("gsk-3"));
    assert_eq!(exposed(&again, "xai").as_deref(), Some("xai-2"));
    again.delete("groq").expect("delete");
    let third = VaultFile::new(directory.path(), WORK);
    third.open(passphrase("correct horse")).expect("unlock");
    assert_eq!(exposed(&third, "groq"), None);
    assert_eq!(third.keys().len(), 1);
}

#[test]
fn nothing_in_the_folder_holds_the_key_or_the_passphrase() {
    let directory = tempfile::tempdir().expect("tempdir");
    made(directory.path());
    let names: Vec<_> = fs::read_dir(directory.path())
        .expect("list")
        .map(|entry| entry.expect("entry").file_name())
        .collect();
    assert_eq!(names, [NAME], "no temporary file is left");
    let bytes = fs::read(directory.path().join(NAME)).expect("read");
    for secret in [KEY, "correct horse", "groq"] {
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{secret}");
    }
    assert!(bytes.starts_with(b"age-encryption.org/v1\n-> scrypt "));
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().expect("tempdir");
    let file = made(directory.path());
    let mode = || fs::metadata(directory.path().join(NAME)).expect("stat").permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    file.set("xai", &SecretString::from("xai-2")).expect("set");
    assert_eq!(mode(), 0o600);
}

#[test]
fn a_wrong_passphrase_is_its_own_error_and_changes_nothing() {
    let directory = tempfile::tempdir().expect("tempdir");
    let file = made(directory.path());
    let before = fs::read(directory.path().join(NAME)).expect("read");
    let locked = VaultFile::new(directory.path(), WORK);
    for wrong in ["", "correct horsf", "Correct horse", "correct horse "] {
        assert!(matches!(locked.open(passphrase(wrong)), Err(VaultError::WrongPassphrase)), "{wrong}");
        assert!(!locked.is_open());
    }
    assert!(matches!(file.open(passphrase("wrong one")), Err(VaultError::WrongPassphrase)));
    assert_eq!(exposed(&file, "groq").as_deref(), Some(KEY), "an open file stays open");
    assert_eq!(fs::read(directory.path().join(NAME)).expect("read"), before);
}

#[test]
fn a_short_passphrase_makes_no_file() {
    let directory = tempfile::tempdir().expect("tempdir");
    let file = VaultFile::new(directory.path(), WORK);
    assert!(matches!(file.open(passphrase("seven77")), Err(VaultError::PassphraseTooShort(8))));
    assert!(!file.exists() && !file.is_open());
}

#[test]
fn a_damaged_file_is_said_to_be_so_and_left_as_it_is() {
    let directory = tempfile::tempdir().expect("tempdir");
    made(directory.path());
    let path = directory.path().join(NAME);
    let whole = fs::read(&path).expect("read");
    // Each opening costs milliseconds: every third byte.
    for length in (0..whole.len()).step_by(3) {
        fs::write(&path, &whole[..length]).expect("cut");
        let file = VaultFile::new(directory.path(), WORK);
        let error = file.open(passphrase("correct horse")).expect_err("cut");
        assert!(matches!(error, VaultError::Damaged(_)), "cut at {length}: {error}");
        assert!(!file.is_open());
        assert_eq!(fs::read(&path).expect("read"), &whole[..length]);
    }
    for at in (0..whole.len()).step_by(3) {
        let mut altered = whole.clone();
        altered[at] ^= 1;
        fs::write(&path, &altered).expect("alter");
        let file = VaultFile::new(directory.path(), WORK);
        let error = file.open(passphrase("correct horse")).expect_err("altered");
        let told = matches!(error, VaultError::Damaged(_) | VaultError::WrongPassphrase);
        assert!(told, "altered at {at}: {error}");
        assert_eq!(fs::read(&path).expect("read"), altered);
    }
    fs::write(&path, &whole).expect("restore");
    let file = VaultFile::new(directory.path(), WORK);
    file.open(passphrase("correct horse")).expect("a copy put back opens");
}

#[test]
fn contents_of_another_kind_are_not_quoted() {
    let directory = tempfile::tempdir().expect("tempdir");
    let mut recipient = age::scrypt::Recipient::new(passphrase("correct horse"));
    recipient.set_work_factor(WORK);
    for (plain, wanted) in [
        (r#"{"version": 1, "keys": "sk-SECRET"}"#, "its contents are not keys"),
        (r#"{"version": 2, "keys": {}}"#, "of version 2; update Benchwarmers"),
        ("sk-SECRET", "its contents are not keys"),
    ] {
        let sealed = age::encrypt(&recipient, plain.as_bytes()).expect("encrypt");
        fs::write(directory.path().join(NAME), sealed).expect("write");
        let text = error_of(VaultFile::new(directory.path(), WORK).open(passphrase("correct horse")));
        assert!(text.contains(wanted) && !text.contains("SECRET"), "{text}");
    }
}

#[test]
fn a_file_that_asks_for_absurd_work_is_refused_at_once() {
    let directory = tempfile::tempdir().expect("tempdir");
    made(directory.path());
    let path = directory.path().join(NAME);
    let text = String::from_utf8_lossy(&fs::read(&path).expect("read")).into_owned();
    let line = text.lines().nth(1).expect("stanza").to_owned();
    let salt = line.split(' ').nth(2).expect("salt").to_owned();
    let bytes = fs::read(&path).expect("read");
    let from = format!("-> scrypt {salt} {WORK}\n");
    let to = format!("-> scrypt {salt} 40\n");
    let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).expect("stanza");
    let altered = [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat();
    fs::write(&path, altered).expect("write");
    let text = error_of(VaultFile::new(directory.path(), WORK).open(passphrase("correct horse")));
    assert!(text.contains("too much work"), "{text}");
}

#[test]
fn what_cannot_be_written_is_not_said_to_be_kept() {
    let directory = tempfile::tempdir().expect("tempdir");
    let file = made(directory.path());
    // A directory stands where the temporary file would: works for root too, unlike permissions.
    fs::create_dir(directory.path().join("vault.age.new")).expect("in the way");
    let text = error_of(file.set("groq", &SecretString::from("gsk-new")));
    assert!(text.starts_with("vault.age could not be written") && !text.contains("gsk-new"), "{text}");
    assert_eq!(exposed(&file, "groq").as_deref(), Some(KEY));
    fs::remove_dir(directory.path().join("vault.age.new")).expect("out of the way");
    let again = VaultFile::new(directory.path(), WORK);
    again.open(passphrase("correct horse")).expect("unlock");
    assert_eq!(exposed(&again, "groq").as_deref(), Some(KEY));
}

#[test]
fn a_temporary_file_left_by_a_crash_is_no_obstacle() {
    let directory = tempfile::tempdir().expect("tempdir");
    let file = made(directory.path());
    fs::write(directory.path().join("vault.age.new"), "half of it").expect("left over");
    file.set("xai", &SecretString::from("xai-2")).expect("set");
    assert!(!directory.path().join("vault.age.new").exists());
}

#[test]
fn changes_from_many_threads_are_all_kept() {
    let directory = tempfile::tempdir().expect("tempdir");
    let file = Arc::new(made(directory.path()));
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let file = Arc::clone(&file);
            std::thread::spawn(move || {
                file.set(&format!("endpoint-{number}"), &SecretString::from(format!("key-{number}")))
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("thread").expect("set"));
    let again = VaultFile::new(directory.path(), WORK);
    again.open(passphrase("correct horse")).expect("unlock");
    assert_eq!(again.keys().len(), 9);
    assert_eq!(exposed(&again, "endpoint-7").as_deref(), Some("key-7"));
}
