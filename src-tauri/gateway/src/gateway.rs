//! The gateway's state and its parts. Cheap to clone; everything is behind one `Arc`.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use catalog::Endpoint;
use plan::Setup;
use secrecy::SecretString;
use store::{OpenOptions, Opened, Store, StoreError};
use tokio::sync::SetOnce;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use vault::Vault;

use crate::{
    alerts,
    callers::Callers,
    clock::Clock,
    data_dir::{LockError, Owner, OwnerLock},
    evidence::Known,
    health::Failing,
    keys,
    learned::Learned,
    limits::Limits,
    live::{Events, Live},
    onboarding::Onboarding,
    origins::Origins,
    practice, records,
    setup::{ChangeError, SetupState, Snapshot},
    told::Told,
    turn::Conversations,
    upkeep,
    upstream::{EndpointTest, Pooled, Transport, Upstream, list_models},
    view::{LiveEvent, Recording},
};

/// What is told of an endpoint's test.
const TEST_CHARS: usize = 500;

/// How a gateway is opened.
pub struct Options {
    pub data_dir: PathBuf,
    /// `benchwarmers` or `bench serve`: what other processes are told.
    pub program: String,
    pub clock: Clock,
}

/// Why the data folder could not be opened. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the data folder {} is in use by {}. Stop it first, or use another folder (BENCHWARMERS_HOME)", .dir.display(), owner_in_words(.owner))]
    InUse { dir: PathBuf, owner: Option<Owner> },
    #[error("the data folder {} could not be opened: {source}", .dir.display())]
    Folder { dir: PathBuf, source: io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the HTTP client could not be made: {0}")]
    Client(String),
}

fn owner_in_words(owner: &Option<Owner>) -> String {
    match owner {
        Some(owner) if owner.url.is_empty() => format!("{} (process {})", owner.program, owner.pid),
        Some(owner) => format!("{} (process {}, serving {})", owner.program, owner.pid, owner.url),
        None => "another process".to_owned(),
    }
}

#[derive(Clone)]
pub struct Gateway {
    inner: Arc<Inner>,
}

struct Inner {
    data_dir: PathBuf,
    program: String,
    lock: OwnerLock,
    clock: Clock,
    store: Store,
    setup: SetupState,
    known: Known,
    conversations: Conversations,
    learned: Learned,
    failing: Failing,
    limits: Limits,
    callers: Callers,
    told: Told,
    onboarding: Onboarding,
    /// Opened beside the listener: a slow keychain must not delay the first request that needs no key.
    vault: SetOnce<Vault>,
    live: Live,
    origins: Origins,
    upstream: Upstream,
    panels: TaskTracker,
    tasks: TaskTracker,
    /// New work is refused; streams of events end.
    stopping: CancellationToken,
    /// The listener ends: the panels have, and they may have needed it (practice is served here).
    unlisten: CancellationToken,
    /// What still runs is cancelled.
    closing: CancellationToken,
    address: OnceLock<SocketAddr>,
}

impl Gateway {
    /// Takes the data folder and opens the store. Call it inside a tokio runtime.
    pub async fn open(options: Options) -> Result<Gateway, OpenError> {
        let Options { data_dir, program, clock } = options;
        let dir = data_dir.clone();
        let now = clock.clone();
        let opened = tokio::task::spawn_blocking(move || open_folder(&dir, now)).await;
        let (
            lock,
            Opened { store, moved_aside, .. },
            setup,
            known,
            conversations,
            learned,
            failing,
            limits,
            callers,
            told,
            onboarding,
        ) = opened.unwrap_or_else(|panic| Err(folder_error(&data_dir, io::Error::other(panic))))?;
        let owner = Owner { pid: std::process::id(), program: program.clone(), url: String::new() };
        lock.announce(&owner).map_err(|source| folder_error(&data_dir, source))?;
        let transport = Arc::new(Pooled::new().map_err(|error| OpenError::Client(error.to_string()))?);
        let tasks = TaskTracker::new();
        let gateway = Gateway {
            inner: Arc::new(Inner {
                data_dir,
                program,
                lock,
                setup,
                known,
                conversations,
                learned,
                failing,
                limits,
                callers,
                told,
                onboarding,
                store,
                vault: SetOnce::new(),
                live: Live::new(),
                origins: Origins::new(),
                upstream: Upstream { transport, clock: clock.clone(), tasks: tasks.clone() },
                clock,
                panels: TaskTracker::new(),
                tasks,
                stopping: CancellationToken::new(),
                unlisten: CancellationToken::new(),
                closing: CancellationToken::new(),
                address: OnceLock::new(),
            }),
        };
        gateway.watch_recording();
        gateway.open_vault();
        upkeep::begin(&gateway);
        gateway.tell_paid();
        gateway.tell_retiring();
        if let Some(moved) = &moved_aside {
            alerts::records_moved(&gateway, moved);
        }
        Ok(gateway)
    }

    fn watch_recording(&self) {
        let (live, clock) = (self.inner.live.clone(), self.inner.clock.clone());
        self.inner
            .store
            .on_recording_change(move |state| alerts::recording(&live, &clock, &records::recording(&state)));
    }

    fn open_vault(&self) {
        let gateway = self.clone();
        self.inner.tasks.spawn_blocking(move || {
            let _ = gateway.inner.vault.set(keys::open(&gateway));
            gateway.inner.live.publish(LiveEvent::SetupChanged {});
        });
    }

    pub fn data_dir(&self) -> &Path {
        &self.inner.data_dir
    }

    /// `http://127.0.0.1:8123`, once it listens.
    pub fn url(&self) -> Option<String> {
        self.inner.address.get().map(|address| format!("http://{address}"))
    }

    pub(crate) fn listening(&self, address: SocketAddr) -> io::Result<()> {
        let _ = self.inner.address.set(address);
        let owner = Owner {
            pid: std::process::id(),
            program: self.inner.program.clone(),
            url: format!("http://{address}"),
        };
        self.inner.lock.announce(&owner)
    }

    pub(crate) fn port(&self) -> u16 {
        self.inner.address.get().map_or(0, SocketAddr::port)
    }

    pub(crate) fn setup_state(&self) -> &SetupState {
        &self.inner.setup
    }

    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.inner.setup.snapshot()
    }

    /// Changes the set-up; see [`SetupState::change`]. Keys of new endpoints are looked up before it returns.
    pub async fn change_setup<T: Send + 'static, E>(
        &self,
        actor: &str,
        edit: impl FnOnce(&mut Setup) -> Result<T, E>,
    ) -> Result<T, ChangeError<E>> {
        let before = self.snapshot();
        let vault = self.vault().wait().await;
        let outcome = self.inner.setup.change(actor, Some(vault), edit).await?;
        self.reload_limits(before.clone()).await;
        self.onboarding_elsewhere(&before);
        self.forget_learned(&before.setup, &self.snapshot().setup);
        self.forget_rates(&before.setup, &self.snapshot().setup);
        self.forgive(&before.setup, &self.snapshot().setup);
        self.tell_paid();
        self.reload_keys().await;
        Ok(outcome)
    }

    pub(crate) fn origins(&self) -> &Origins {
        &self.inner.origins
    }

    /// An endpoint with a base that can be asked: the practice endpoint is the gateway's own address.
    pub(crate) fn resolve(&self, endpoint: &Endpoint) -> Endpoint {
        let mut endpoint = endpoint.clone();
        if endpoint.base == catalog::PRACTICE_BASE {
            endpoint.base = format!("{}{}", self.url().unwrap_or_default(), practice::PATH);
        }
        endpoint
    }

    /// Lists what an endpoint serves, or says in words what is wrong.
    pub async fn test_endpoint(&self, endpoint: &Endpoint) -> EndpointTest {
        let test = self.try_endpoint(endpoint, None).await;
        if test.ok {
            self.known().listed(&endpoint.name, test.models.iter().map(|model| model.served.clone()));
            if self.inner.setup.listed(endpoint, &test.models, self.clock().now_ms()).await {
                self.tell_paid();
                self.inner.live.publish(LiveEvent::SetupChanged {});
            }
        }
        if let Some(said) = &test.key_refused {
            alerts::key_refused(self, endpoint, said);
        } else if test.ok {
            alerts::end(self, crate::view::AlertKind::KeyRefused, &endpoint.name);
        }
        test
    }

    /// The same for one that is not saved as it is here, with its new key if it is to have one: nothing is learned from
    /// it and no alert is raised.
    pub async fn try_endpoint(&self, endpoint: &Endpoint, key: Option<&SecretString>) -> EndpointTest {
        let key = match key.and_then(|key| self.cleaned_key(key)) {
            Some(key) => Some(key),
            None => self.key(endpoint).await,
        };
        let mut test = list_models(&*self.inner.upstream.transport, &self.resolve(endpoint), key).await;
        let listed = test.models.len();
        // What it lists is kept and shown.
        test.models.retain(|model| self.mask(&model.served).is_none());
        let left_out = listed - test.models.len();
        if left_out > 0 {
            let are = if left_out == 1 { "model is" } else { "models are" };
            test.message = format!("{} {left_out} {are} left out, as a key is part of the id.", test.message);
        }
        EndpointTest { message: wire::redact::shorten(&self.scrub(&test.message), TEST_CHARS), ..test }
    }

    /// Adds the practice endpoint, its models and the collection `practice`.
    pub async fn start_practice(
        &self,
        actor: &str,
    ) -> Result<plan::Collection, ChangeError<std::convert::Infallible>> {
        self.change_setup(actor, |setup| Ok(practice::add_to(setup))).await
    }

    /// Everything that happens from here on, after a snapshot of what is.
    pub fn events(&self) -> Events {
        let gateway = self.clone();
        let ended = Arc::new(move || gateway.recent());
        Events::new(self.inner.live.clone(), ended, self.inner.stopping.clone())
    }

    pub fn recording(&self) -> Recording {
        records::recording(&self.inner.store.recording())
    }

    pub fn alerts(&self) -> Vec<crate::view::Alert> {
        self.inner.live.alerts()
    }

    /// Panels and turns running now.
    pub fn running(&self) -> usize {
        self.inner.live.running() + self.conversations().lock().running()
    }

    pub(crate) fn vault(&self) -> &SetOnce<Vault> {
        &self.inner.vault
    }

    pub fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    pub(crate) fn store(&self) -> &Store {
        &self.inner.store
    }

    pub(crate) fn live(&self) -> &Live {
        &self.inner.live
    }

    pub(crate) fn known(&self) -> &Known {
        &self.inner.known
    }

    pub(crate) fn conversations(&self) -> &Conversations {
        &self.inner.conversations
    }

    pub(crate) fn learned(&self) -> &Learned {
        &self.inner.learned
    }

    pub(crate) fn failing(&self) -> &Failing {
        &self.inner.failing
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    pub(crate) fn callers(&self) -> &Callers {
        &self.inner.callers
    }

    pub(crate) fn told(&self) -> &Told {
        &self.inner.told
    }

    pub(crate) fn onboarding(&self) -> &Onboarding {
        &self.inner.onboarding
    }

    pub(crate) fn upstream(&self) -> &Upstream {
        &self.inner.upstream
    }

    pub(crate) fn transport(&self) -> &dyn Transport {
        &*self.inner.upstream.transport
    }

    /// Everything else: connections, upkeep.
    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.inner.tasks
    }

    /// Panels on their way, each with what it still has to write down.
    pub(crate) fn panel_tasks(&self) -> &TaskTracker {
        &self.inner.panels
    }

    pub(crate) fn unlisten(&self) -> &CancellationToken {
        &self.inner.unlisten
    }

    pub(crate) fn stopping(&self) -> &CancellationToken {
        &self.inner.stopping
    }

    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.inner.closing
    }

    /// 0 to 1, for what is left to chance.
    pub(crate) fn chance(&self) -> f64 {
        f64::from(self.random()) / f64::from(u32::MAX)
    }

    /// Randomness for ids; not a secret.
    pub(crate) fn random(&self) -> u32 {
        getrandom::u32().unwrap_or_else(|_| self.inner.clock.now_ms() as u32)
    }
}

/// What is in the data folder.
type Folder = (
    OwnerLock,
    Opened,
    SetupState,
    Known,
    Conversations,
    Learned,
    Failing,
    Limits,
    Callers,
    Told,
    Onboarding,
);

fn open_folder(dir: &Path, clock: Clock) -> Result<Folder, OpenError> {
    let lock = OwnerLock::take(dir).map_err(|error| match error {
        LockError::InUse(owner) => OpenError::InUse { dir: dir.to_owned(), owner },
        LockError::Io(source) => folder_error(dir, source),
    })?;
    let now_ms = clock.now_ms();
    let now: store::Now = Arc::new(move || clock.now_ms());
    let opened = Store::open(OpenOptions { path: dir.to_owned(), now, max_pages: None })?;
    let known = Known::load(&opened.store)?;
    let told = Told::load(&opened.store, &mut known.cooldowns(), now_ms)?;
    let setup = SetupState::load(opened.store.clone())?;
    let callers = Callers::load(&opened.store)?;
    let limits = Limits::load(&opened.store, &setup.snapshot(), !callers.all().is_empty(), now_ms)?;
    let idle_ms = i64::from(setup.snapshot().setup.settings.conversation_minutes) * 60_000;
    let conversations = Conversations::load(&opened.store, now_ms - idle_ms)?;
    let onboarding = Onboarding::load(&opened.store)?;
    let learned = Learned::load(&opened.store)?;
    let failing = Failing::load(&opened.store, now_ms)?;
    Ok((lock, opened, setup, known, conversations, learned, failing, limits, callers, told, onboarding))
}

fn folder_error(dir: &Path, source: io::Error) -> OpenError {
    OpenError::Folder { dir: dir.to_owned(), source }
}
