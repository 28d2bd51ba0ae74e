use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::Duration,
};

use secrecy::SecretString;

use crate::{
    Environment, VaultError,
    store::{OsKeychain, SecretStore, prove},
};

/// Whether the operating system's keychain is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeychainChoice {
    Os,
    Off,
}

impl KeychainChoice {
    /// `Off` when `BENCHWARMERS_KEYCHAIN` is `off`: servers without a desktop, and tests.
    pub fn from_environment(environment: &Environment) -> KeychainChoice {
        match environment.get("BENCHWARMERS_KEYCHAIN") {
            Some(value) if value.trim().eq_ignore_ascii_case("off") => KeychainChoice::Off,
            _ => KeychainChoice::Os,
        }
    }
}

/// How long a keychain may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// For a look, and for the proof at start.
    pub(crate) read: Duration,
    /// For a change a person asked for, who may first be asked to unlock it.
    pub(crate) write: Duration,
}

impl Patience {
    pub(crate) const USUAL: Patience =
        Patience { read: Duration::from_secs(3), write: Duration::from_secs(30) };
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// Not proved yet: perhaps waiting for a person to unlock it.
    Waiting,
    Ready,
    Failed(String),
}

/// A keychain spoken to from a thread of its own, so that no caller waits longer than it wants to.
///
/// While the thread is held up (a locked keychain waits for a person), every further question fails at once
/// rather than queue behind it.
pub(crate) struct Keychain {
    jobs: Sender<Job>,
    /// To connect and prove it; whoever asks is answered when that is done.
    attempts: Sender<Sender<()>>,
    shared: Arc<Shared>,
    patience: Patience,
}

struct Shared {
    readiness: Mutex<Readiness>,
    /// Questions given up on that the thread is still at, or has still to come to.
    given_up: AtomicU64,
    /// Grows when what an earlier look said may no longer hold.
    turns: AtomicU64,
}

type Job = Box<dyn FnOnce(&dyn SecretStore) + Send>;

impl Keychain {
    pub(crate) fn os() -> Keychain {
        Keychain::start(
            || OsKeychain::connect().map(|store| Box::new(store) as Box<dyn SecretStore>),
            Patience::USUAL,
        )
    }

    /// Starts the thread and waits for the proof, at most as long as a read may take. A proof that comes
    /// later still counts.
    pub(crate) fn start(
        connect: impl Fn() -> Result<Box<dyn SecretStore>, String> + Send + 'static,
        patience: Patience,
    ) -> Keychain {
        let shared = Arc::new(Shared {
            readiness: Mutex::new(Readiness::Waiting),
            given_up: AtomicU64::new(0),
            turns: AtomicU64::new(0),
        });
        let (jobs, queue) = mpsc::channel::<Job>();
        let (attempts, asked) = mpsc::channel::<Sender<()>>();
        let theirs = Arc::clone(&shared);
        let thread = thread::Builder::new().name("keychain".to_owned()).spawn(move || {
            for proved in asked {
                let store = connect().and_then(|store| prove(store.as_ref()).map(|()| store));
                theirs.settle(match &store {
                    Ok(_) => Readiness::Ready,
                    Err(why) => Readiness::Failed(why.clone()),
                });
                // Nobody may be waiting any more.
                let _ = proved.send(());
                let Ok(store) = store else { continue };
                for job in queue {
                    job(store.as_ref());
                }
                return;
            }
        });
        let keychain = Keychain { jobs, attempts, shared, patience };
        match thread {
            Ok(_) => keychain.attempt(patience.read),
            Err(error) => keychain.shared.settle(Readiness::Failed(error.to_string())),
        }
        keychain
    }

    /// Tries one that failed once more, as a person asks for it: they may have unlocked it, or be asked to now. Waits as
    /// long as for a change.
    pub(crate) fn try_again(&self) {
        let mut readiness = self.shared.readiness.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*readiness, Readiness::Failed(_)) {
            return;
        }
        *readiness = Readiness::Waiting;
        drop(readiness);
        self.attempt(self.patience.write);
    }

    fn attempt(&self, patience: Duration) {
        let (proved, proof) = mpsc::channel::<()>();
        // Without its thread nobody takes it, and the proof's sender is dropped.
        let _ = self.attempts.send(proved);
        if proof.recv_timeout(patience) == Err(RecvTimeoutError::Disconnected) {
            self.shared.settle(Readiness::Failed("it stopped".to_owned()));
        }
    }

    pub(crate) fn readiness(&self) -> Readiness {
        self.shared.readiness.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn turns(&self) -> u64 {
        self.shared.turns.load(Ordering::SeqCst)
    }

    pub(crate) fn read(&self, account: &str) -> Result<Option<SecretString>, VaultError> {
        let account = account.to_owned();
        self.ask(self.patience.read, move |store| store.read(&account))
    }

    pub(crate) fn write(&self, account: &str, secret: &SecretString) -> Result<(), VaultError> {
        let (account, secret) = (account.to_owned(), secret.clone());
        self.ask(self.patience.write, move |store| store.write(&account, &secret))
    }

    pub(crate) fn delete(&self, account: &str) -> Result<(), VaultError> {
        let account = account.to_owned();
        self.ask(self.patience.write, move |store| store.delete(&account))
    }

    fn ask<T: Send + 'static>(
        &self,
        patience: Duration,
        question: impl FnOnce(&dyn SecretStore) -> Result<T, String> + Send + 'static,
    ) -> Result<T, VaultError> {
        match self.readiness() {
            Readiness::Ready if self.shared.given_up.load(Ordering::SeqCst) == 0 => {}
            Readiness::Failed(why) => return Err(VaultError::Keychain(why)),
            Readiness::Ready | Readiness::Waiting => return Err(VaultError::KeychainTimeout),
        }
        let (answer, answered) = mpsc::channel();
        // Set by whoever comes first, the answer or the end of patience; the other then knows.
        let settled = Arc::new(AtomicBool::new(false));
        let (theirs, shared) = (Arc::clone(&settled), Arc::clone(&self.shared));
        let job: Job = Box::new(move |store| {
            // Nobody may be waiting any more.
            let _ = answer.send(question(store));
            if theirs.swap(true, Ordering::SeqCst) {
                shared.turns.fetch_add(1, Ordering::SeqCst);
                shared.given_up.fetch_sub(1, Ordering::SeqCst);
            }
        });
        let stopped = || VaultError::Keychain("it stopped; start Benchwarmers again".to_owned());
        self.jobs.send(job).map_err(|_| stopped())?;
        let answer = match answered.recv_timeout(patience) {
            Err(RecvTimeoutError::Timeout) => {
                self.shared.given_up.fetch_add(1, Ordering::SeqCst);
                if !settled.swap(true, Ordering::SeqCst) {
                    return Err(VaultError::KeychainTimeout);
                }
                // It was answered in the same moment.
                self.shared.given_up.fetch_sub(1, Ordering::SeqCst);
                answered.recv().map_err(|_| stopped())?
            }
            outcome => outcome.map_err(|_| stopped())?,
        };
        answer.map_err(VaultError::Keychain)
    }
}

impl Shared {
    fn settle(&self, readiness: Readiness) {
        *self.readiness.lock().unwrap_or_else(PoisonError::into_inner) = readiness;
        self.turns.fetch_add(1, Ordering::SeqCst);
    }
}
