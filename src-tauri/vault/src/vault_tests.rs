use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Mutex, mpsc},
    time::Duration,
};

use secrecy::ExposeSecret;

use super::*;
use crate::{keychain::Patience, store::SecretStore};

const WORK: u8 = 2;
const KEY: &str = "sk-SECRET-0123456789";

/// A keychain in memory. Shared, so that a test sees what the vault put into it.
#[derive(Clone, Default)]
struct Fake {
    kept: Arc<Mutex<BTreeMap<String, String>>>,
    reads: Arc<AtomicU64>,
    /// Refuses everything with these words.
    broken: Arc<Mutex<Option<String>>>,
}

impl SecretStore for Fake {
    fn read(&self, account: &str) -> Result<Option<SecretString>, String> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.fail()?;
        Ok(self.kept.lock().expect("lock").get(account).map(|key| SecretString::from(key.as_str())))
    }

    fn write(&self, account: &str, secret: &SecretString) -> Result<(), String> {
        self.fail()?;
        self.kept.lock().expect("lock").insert(account.to_owned(), secret.expose_secret().to_owned());
        Ok(())
    }

    fn delete(&self, account: &str) -> Result<(), String> {
        self.fail()?;
        self.kept.lock().expect("lock").remove(account);
        Ok(())
    }
}

impl Fake {
    fn holding(account: &str, key: &str) -> Fake {
        let fake = Fake::default();
        fake.put(account, key);
        fake
    }

    fn put(&self, account: &str, key: &str) {
        self.kept.lock().expect("lock").insert(account.to_owned(), key.to_owned());
    }

    fn fail(&self) -> Result<(), String> {
        self.broken.lock().expect("lock").clone().map_or(Ok(()), Err)
    }

    fn keychain(&self) -> Keychain {
        let fake = self.clone();
        Keychain::start(move || Ok(Box::new(fake.clone()) as Box<dyn SecretStore>), Patience::USUAL)
    }
}

struct Set {
    directory: tempfile::TempDir,
    variables: Vec<(String, String)>,
    keychain: Option<Keychain>,
}

fn set() -> Set {
    Set { directory: tempfile::tempdir().expect("tempdir"), variables: Vec::new(), keychain: None }
}

impl Set {
    fn variable(mut self, name: &str, value: &str) -> Set {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn keychain(mut self, fake: &Fake) -> Set {
        self.keychain = Some(fake.keychain());
        self
    }

    fn path(&self) -> PathBuf {
        self.directory.path().to_owned()
    }

    fn vault(&mut self) -> Vault {
        let file = VaultFile::new(self.directory.path(), WORK);
        Vault::with(file, Environment::of(self.variables.clone()), self.keychain.take())
    }
}

fn secret(text: &str) -> SecretString {
    SecretString::from(text)
}

fn key_of(vault: &Vault, endpoint: &str, key_env: Option<&str>) -> Option<(String, Source)> {
    vault.key(endpoint, key_env).map(|found| (found.secret.expose_secret().to_owned(), found.source))
}

#[test]
fn the_environment_wins_then_the_file_then_the_keychain() {
    let fake = Fake::holding("groq", "from-keychain");
    let mut set = set()
        .keychain(&fake)
        .variable("MY_GROQ", " from-key-env\n")
        .variable("BENCHWARMERS_KEY_GROQ", "from-own-variable")
        .variable("BLANK", "  ")
        .variable("UNUSABLE", "two words");
    let vault = set.vault();
    let environment = |key: &str| Some((key.to_owned(), Source::Environment));
    assert_eq!(key_of(&vault, "groq", Some("MY_GROQ")), environment("from-key-env"));
    assert_eq!(key_of(&vault, "groq", None), environment("from-own-variable"));
    assert_eq!(key_of(&vault, "groq", Some("UNSET")), environment("from-own-variable"));
    assert_eq!(key_of(&vault, "groq", Some("BLANK")), environment("from-own-variable"));
    assert_eq!(key_of(&vault, "groq", Some("UNUSABLE")), environment("from-own-variable"));
    assert_eq!(key_of(&vault, "xai", Some("UNSET")), None);

    set.variables.clear();
    let vault = set.keychain(&fake).vault();
    assert_eq!(key_of(&vault, "groq", None), Some(("from-keychain".to_owned(), Source::Keychain)));
    vault.open_file(secret("correct horse")).expect("make");
    vault.set("groq", secret("from-file")).expect("set");
    assert_eq!(key_of(&vault, "groq", None), Some(("from-file".to_owned(), Source::VaultFile)));
    assert_eq!(fake.kept.lock().expect("lock")["groq"], "from-keychain", "new keys go to the file");
}

#[test]
fn a_key_is_read_once_and_then_answered_from_memory() {
    let fake = Fake::holding("groq", KEY);
    let vault = set().keychain(&fake).vault();
    let proof = fake.reads.load(Ordering::SeqCst);
    for _ in 0..100 {
        assert!(vault.key("groq", None).is_some());
        assert!(vault.key("absent", None).is_none());
    }
    assert_eq!(fake.reads.load(Ordering::SeqCst) - proof, 2, "a miss is remembered too");
    fake.put("groq", "changed-outside");
    assert_eq!(key_of(&vault, "groq", None).expect("key").0, KEY);
    vault.load("groq", None);
    assert_eq!(key_of(&vault, "groq", None).expect("key").0, "changed-outside");
}

#[test]
fn keys_are_set_and_deleted_in_the_keychain() {
    let fake = Fake::default();
    let vault = set().keychain(&fake).vault();
    assert_eq!(vault.state(), VaultState::Keychain);
    assert!(fake.kept.lock().expect("lock").is_empty(), "the proof leaves nothing behind");
    vault.set("groq", secret("  Bearer gsk-pasted-key\n")).expect("set");
    assert_eq!(fake.kept.lock().expect("lock")["groq"], "gsk-pasted-key");
    assert_eq!(key_of(&vault, "groq", None), Some(("gsk-pasted-key".to_owned(), Source::Keychain)));
    assert!(matches!(vault.set("groq", secret(" ")), Err(VaultError::BadKey(_))));
    assert_eq!(key_of(&vault, "groq", None).expect("key").0, "gsk-pasted-key");
    vault.delete("groq").expect("delete");
    vault.delete("groq").expect("delete what is gone");
    assert_eq!(key_of(&vault, "groq", None), None);
}

#[test]
fn without_a_store_it_is_said_plainly_and_the_environment_still_works() {
    let mut set = set().variable("BENCHWARMERS_KEY_GROQ", KEY);
    let vault = set.vault();
    assert_eq!(vault.state(), VaultState::None { why: "the keychain is turned off".to_owned() });
    assert!(vault.message().contains("Choose the encrypted file"), "{}", vault.message());
    assert!(matches!(vault.set("groq", secret("gsk-other")), Err(VaultError::NoStore(_))));
    vault.delete("groq").expect("nothing to delete");
    assert_eq!(key_of(&vault, "groq", None), Some((KEY.to_owned(), Source::Environment)));
    assert_eq!(std::fs::read_dir(set.path()).expect("list").count(), 0, "nothing on disk unasked");
}

#[test]
fn the_file_is_opened_by_passphrase_or_by_the_environment() {
    let mut set = set();
    let vault = set.vault();
    assert_eq!(vault.open_file(secret("correct horse")).expect("make"), VaultState::VaultFile);
    vault.set("groq", secret(KEY)).expect("set");

    let locked = set.vault();
    assert_eq!(locked.state(), VaultState::VaultLocked);
    assert_eq!(key_of(&locked, "groq", None), None);
    assert!(matches!(locked.set("groq", secret("x")), Err(VaultError::Locked)));
    assert!(matches!(locked.delete("groq"), Err(VaultError::Locked)));
    assert!(matches!(locked.open_file(secret("wrong horse")), Err(VaultError::WrongPassphrase)));
    assert_eq!(locked.state(), VaultState::VaultLocked);
    locked.open_file(secret("correct horse")).expect("open");
    assert_eq!(
        key_of(&locked, "groq", None),
        Some((KEY.to_owned(), Source::VaultFile)),
        "the miss is not kept"
    );

    let mut set = set.variable("BENCHWARMERS_VAULT_PASSPHRASE", "correct horse");
    assert_eq!(set.vault().state(), VaultState::VaultFile);
    set.variables = vec![("BENCHWARMERS_VAULT_PASSPHRASE".to_owned(), "wrong horse".to_owned())];
    let vault = set.vault();
    assert_eq!(vault.state(), VaultState::VaultLocked);
    assert!(
        vault.message().contains("BENCHWARMERS_VAULT_PASSPHRASE: wrong passphrase"),
        "{}",
        vault.message()
    );
    assert!(!vault.message().contains("wrong horse"));
}

#[test]
fn the_environment_does_not_make_a_file() {
    let mut set = set().variable("BENCHWARMERS_VAULT_PASSPHRASE", "correct horse");
    assert!(matches!(set.vault().state(), VaultState::None { .. }));
    assert_eq!(std::fs::read_dir(set.path()).expect("list").count(), 0);
}

#[test]
fn the_keychain_can_be_turned_off_by_the_environment() {
    let directory = tempfile::tempdir().expect("tempdir");
    let off = Environment::of([("BENCHWARMERS_KEYCHAIN", "off")]);
    let vault = Vault::open(directory.path(), off, KeychainChoice::Os);
    assert_eq!(vault.state(), VaultState::None { why: "the keychain is turned off".to_owned() });
}

#[test]
fn a_keychain_that_fails_or_lies_is_not_used() {
    let broken = Fake::default();
    *broken.broken.lock().expect("lock") = Some("no such thing".to_owned());
    let vault = set().keychain(&broken).vault();
    assert_eq!(vault.state(), VaultState::None { why: "no keychain: no such thing".to_owned() });

    /// Takes everything and keeps nothing: what a mock store does.
    struct Liar;
    impl SecretStore for Liar {
        fn read(&self, _: &str) -> Result<Option<SecretString>, String> {
            Ok(None)
        }
        fn write(&self, _: &str, _: &SecretString) -> Result<(), String> {
            Ok(())
        }
        fn delete(&self, _: &str) -> Result<(), String> {
            Ok(())
        }
    }
    let mut liar = set();
    liar.keychain = Some(Keychain::start(|| Ok(Box::new(Liar) as Box<dyn SecretStore>), Patience::USUAL));
    let why = "no keychain: it does not keep what it is given".to_owned();
    assert_eq!(liar.vault().state(), VaultState::None { why });

    let mut absent = set();
    absent.keychain = Some(Keychain::start(|| Err("no session bus".to_owned()), Patience::USUAL));
    assert_eq!(absent.vault().state(), VaultState::None { why: "no keychain: no session bus".to_owned() });
}

#[test]
fn a_keychain_that_breaks_later_is_an_error_and_a_miss() {
    let fake = Fake::default();
    let vault = set().keychain(&fake).vault();
    *fake.broken.lock().expect("lock") = Some("the session ended".to_owned());
    let error = vault.set("groq", secret(KEY)).expect_err("broken").to_string();
    assert_eq!(error, "the keychain refused: the session ended");
    assert_eq!(key_of(&vault, "groq", None), None);
}

/// A keychain that answers when the test lets it.
fn gated(
    fake: &Fake,
    gate: mpsc::Receiver<()>,
) -> impl Fn() -> Result<Box<dyn SecretStore>, String> + Send + use<> {
    let fake = fake.clone();
    move || {
        gate.recv().map_err(|error| error.to_string())?;
        Ok(Box::new(fake.clone()) as Box<dyn SecretStore>)
    }
}

#[test]
fn a_locked_keychain_holds_nobody_up_and_is_used_once_it_answers() {
    let fake = Fake::holding("groq", KEY);
    let (open, gate) = mpsc::channel();
    let impatient = Patience { read: Duration::from_millis(20), write: Duration::from_millis(20) };
    let mut set = set();
    set.keychain = Some(Keychain::start(gated(&fake, gate), impatient));
    let vault = set.vault();
    assert!(matches!(vault.state(), VaultState::None { .. }));
    assert!(vault.message().contains("waiting to be unlocked"), "{}", vault.message());
    assert_eq!(key_of(&vault, "groq", None), None);
    assert!(matches!(vault.set("groq", secret("gsk-new")), Err(VaultError::NoStore(_))));

    open.send(()).expect("unlock");
    while vault.state() != VaultState::Keychain {
        std::thread::yield_now();
    }
    // The state may turn a moment before the turn is counted; a key asked for then is looked for again.
    while vault.key("groq", None).is_none() {
        std::thread::yield_now();
    }
    assert_eq!(key_of(&vault, "groq", None), Some((KEY.to_owned(), Source::Keychain)));
}

/// Refused at start, it is tried when a person asks for it, and not before.
#[test]
fn a_keychain_that_was_locked_is_used_once_it_is_unlocked_and_asked_for() {
    let fake = Fake::holding("groq", KEY);
    let unlocked = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (is_open, attempts) = (Arc::clone(&unlocked), Arc::new(std::sync::atomic::AtomicU32::new(0)));
    let (theirs, connected) = (fake.clone(), Arc::clone(&attempts));
    let connect = move || {
        connected.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        match is_open.load(std::sync::atomic::Ordering::SeqCst) {
            true => Ok(Box::new(theirs.clone()) as Box<dyn SecretStore>),
            false => Err("SS error: prompt dismissed".to_owned()),
        }
    };
    let mut set = set();
    set.keychain = Some(Keychain::start(connect, Patience::USUAL));
    let vault = set.vault();
    let tried = || attempts.load(std::sync::atomic::Ordering::SeqCst);
    assert!(vault.message().contains("the keychain is locked, and was not unlocked"), "{}", vault.message());
    assert!(vault.message().contains("Unlock it, then test an endpoint"), "{}", vault.message());
    assert!(matches!(vault.set("groq", secret("gsk-new")), Err(VaultError::NoStore(_))));
    assert_eq!((key_of(&vault, "groq", None), tried()), (None, 1), "nobody is asked again by themselves");
    vault.try_again();
    assert!(matches!(vault.state(), VaultState::None { .. }));
    unlocked.store(true, std::sync::atomic::Ordering::SeqCst);
    vault.try_again();
    assert_eq!(vault.state(), VaultState::Keychain);
    assert_eq!(key_of(&vault, "groq", None), Some((KEY.to_owned(), Source::Keychain)));
    vault.try_again();
    assert_eq!(tried(), 3, "one that works is left alone");
}

#[test]
fn a_question_held_up_makes_the_next_fail_at_once_until_it_is_answered() {
    /// Reads of the account `slow` wait for the gate.
    #[derive(Clone)]
    struct Slow(Fake, Arc<Mutex<mpsc::Receiver<()>>>);
    impl SecretStore for Slow {
        fn read(&self, account: &str) -> Result<Option<SecretString>, String> {
            if account == "slow" {
                self.1.lock().expect("lock").recv().map_err(|error| error.to_string())?;
            }
            self.0.read(account)
        }
        fn write(&self, account: &str, secret: &SecretString) -> Result<(), String> {
            self.0.write(account, secret)
        }
        fn delete(&self, account: &str) -> Result<(), String> {
            self.0.delete(account)
        }
    }
    let fake = Fake::holding("slow", KEY);
    fake.put("fast", "key-fast");
    let (open, gate) = mpsc::channel();
    let slow = Slow(fake.clone(), Arc::new(Mutex::new(gate)));
    // The proof at start must have time enough on a busy machine; a read of `slow` then waits as long.
    let patience = Patience { read: Duration::from_secs(1), write: Duration::from_secs(60) };
    let mut set = set();
    set.keychain =
        Some(Keychain::start(move || Ok(Box::new(slow.clone()) as Box<dyn SecretStore>), patience));
    let vault = set.vault();
    assert_eq!(vault.state(), VaultState::Keychain);
    assert_eq!(key_of(&vault, "slow", None), None, "given up on");
    assert_eq!(key_of(&vault, "fast", None), None, "not queued behind it");
    assert!(matches!(vault.set("fast", secret("key-new")), Err(VaultError::KeychainTimeout)));
    open.send(()).expect("answer");
    open.send(()).expect("answer the second look too");
    while vault.key("fast", None).is_none() {
        std::thread::yield_now();
    }
    assert_eq!(key_of(&vault, "fast", None), Some(("key-fast".to_owned(), Source::Keychain)));
    assert_eq!(key_of(&vault, "slow", None), Some((KEY.to_owned(), Source::Keychain)));
}

#[test]
fn what_is_shown_of_a_key() {
    let fake = Fake::holding("groq", KEY);
    fake.put("short", "elevenchars");
    let vault = set().keychain(&fake).variable("BENCHWARMERS_KEY_XAI", "xai-abcdefgh-wxyz").vault();
    let info = |source, hint: &str, variable: Option<&str>| KeyInfo {
        source,
        hint: hint.to_owned(),
        variable: variable.map(str::to_owned),
    };
    assert_eq!(vault.describe("groq", None), info(Some(Source::Keychain), "••••6789", None));
    assert_eq!(vault.describe("short", None), info(Some(Source::Keychain), "••••", None));
    let variable = Some("BENCHWARMERS_KEY_XAI");
    assert_eq!(vault.describe("xai", None), info(Some(Source::Environment), "••••wxyz", variable));
    assert_eq!(vault.describe("none", None), KeyInfo::default());
}

#[test]
fn every_key_known_is_scrubbed_the_replaced_and_the_refused_too() {
    let mut set = set().variable("BENCHWARMERS_KEY_XAI", "xai-abcdefgh");
    let vault = set.vault();
    vault.key("xai", None).expect("key");
    let _ = vault.set("groq", secret("gsk-nowhere-to-keep")).expect_err("no store");
    vault.open_file(secret("correct horse")).expect("make");
    vault.set("groq", secret("gsk-first-key")).expect("set");
    vault.set("groq", secret("gsk-second-key")).expect("replace");
    let text = "xai-abcdefgh gsk-nowhere-to-keep gsk-first-key gsk-second-key rest";
    assert_eq!(vault.scrub(text), "•••• •••• •••• •••• rest");
    set.variables.push(("BENCHWARMERS_VAULT_PASSPHRASE".to_owned(), "correct horse".to_owned()));
    assert_eq!(
        set.vault().scrub("gsk-second-key"),
        "••••",
        "keys of the file are known before they are used"
    );
}

#[test]
fn nothing_prints_a_secret() {
    let fake = Fake::holding("groq", KEY);
    let vault = set().keychain(&fake).vault();
    let found = vault.key("groq", None).expect("key");
    let info = vault.describe("groq", None);
    let errors = [
        vault.open_file(secret("SECRET")).expect_err("short"),
        vault.set("a", secret("SECRET x")).expect_err("bad"),
    ];
    let shown = format!("{vault:?} {found:?} {info:?} {errors:?} {:?}", found.secret);
    assert!(!shown.contains("SECRET"), "{shown}");
}

#[test]
fn many_threads_look_set_and_scrub_at_once() {
    let fake = Fake::default();
    let vault = set().keychain(&fake).vault();
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let vault = vault.clone();
            std::thread::spawn(move || {
                let endpoint = format!("endpoint-{}", number % 4);
                for round in 0..50 {
                    vault.set(&endpoint, secret(&format!("key-{number}-{round:04}-end"))).expect("set");
                    let (key, _) = key_of(&vault, &endpoint, None).expect("key");
                    assert_eq!(vault.scrub(&key), "••••");
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("thread"));
    // After the last change no stale look may stand.
    for number in 0..4 {
        let endpoint = format!("endpoint-{number}");
        let kept = fake.kept.lock().expect("lock")[&endpoint].clone();
        assert_eq!(key_of(&vault, &endpoint, None).expect("key").0, kept);
    }
}

#[test]
fn a_keychain_that_cannot_be_used_is_said_in_words() {
    let denied = "Platform failure: zbus error: org.freedesktop.DBus.Error.AccessDenied: a policy forbids it";
    for (why, wanted) in [
        (denied, "the keychain refused: a policy forbids it"),
        (
            "Platform failure: User interaction is not allowed.",
            "the keychain refused: User interaction is not allowed.",
        ),
        ("zbus error: org.freedesktop.DBus.Error.ServiceUnknown: x", "no keychain runs in this session"),
        ("SS error: prompt dismissed", LOCKED),
        ("it did not answer in 5 s", "no keychain: it did not answer in 5 s"),
        ("odd: as it is", "no keychain: odd: as it is"),
        ("a.b.Error: ", "no keychain: a.b.Error: "),
    ] {
        assert_eq!(in_words(why), wanted);
    }
}
