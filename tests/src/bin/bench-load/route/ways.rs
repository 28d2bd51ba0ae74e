//! The ways to the upstream: direct, nginx, the gateway and, where it is installed, crabllm.

use std::{net::SocketAddr, process::Stdio};

use bench_tests::{Gateway, Home, Scenario, eventually};
use serde_json::json;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use super::{
    questions::{self, Api, Size},
    replies::{SCRIPTS, Script},
};
use crate::{
    nginx::{Nginx, UNBUFFERED, free_port},
    process,
};

/// The processes that are measured, running.
pub struct Ways {
    pub direct: Way,
    pub nginx: Option<Way>,
    pub gateway: Way,
    pub crabllm: Option<Way>,
    upstream: Child,
    gateway_process: Gateway,
    _nginx: Option<Nginx>,
    _crabllm: Option<(Child, TempDir)>,
}

/// Somewhere to send a question.
#[derive(Clone, Debug)]
pub struct Way {
    pub name: &'static str,
    pub address: SocketAddr,
    /// Its process; the direct way has none.
    pub pid: Option<u32>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The upstream's own paths.
    Through,
    /// The same, at nginx, without reading the request first.
    Unbuffered,
    /// Scripts are collections.
    Gateway,
    /// Scripts are models.
    Models,
}

impl Ways {
    pub async fn start() -> Ways {
        let (upstream, address) = start_upstream().await;
        let gateway = scenario(address).start().await;
        let nginx = Nginx::start(&format!("http://{address}")).await;
        let crabllm = start_crabllm(address).await;
        let local = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        let way = |name, address, pid, kind| Way { name, address, pid, kind };
        Ways {
            direct: way("direct", address, None, Kind::Through),
            nginx: nginx.as_ref().map(|it| way("nginx", local(it.port()), Some(it.pid()), Kind::Through)),
            gateway: way("gateway", local(gateway.port()), Some(gateway.pid()), Kind::Gateway),
            crabllm: crabllm
                .as_ref()
                .map(|(child, _, port)| way("crabllm", local(*port), child.id(), Kind::Models)),
            upstream,
            gateway_process: gateway,
            _nginx: nginx,
            _crabllm: crabllm.map(|(child, folder, _)| (child, folder)),
        }
    }

    /// Every way, the direct one first.
    pub fn all(&self) -> Vec<&Way> {
        [Some(&self.direct), self.nginx.as_ref(), Some(&self.gateway), self.crabllm.as_ref()]
            .into_iter()
            .flatten()
            .collect()
    }

    /// A folder with the gateway's set-up, and nothing asked yet.
    pub async fn set_up(&self) -> Home {
        scenario(self.direct.address).start().await.stop().await.0
    }

    /// Ends every process; the gateway's folder, used.
    pub async fn stop(self) -> Home {
        self.gateway_process.stop().await.0
    }

    /// Every process but this one.
    pub fn pids(&self) -> Vec<u32> {
        self.all().into_iter().filter_map(|way| way.pid).chain(self.upstream.id()).collect()
    }
}

impl Way {
    /// nginx, passing requests on as they come.
    pub fn unbuffered(&self) -> Way {
        Way { name: "nginx, request unbuffered", kind: Kind::Unbuffered, ..self.clone() }
    }

    /// The bytes of a request, of a conversation of its own for each `session`.
    pub fn request(&self, api: Api, script: Script, size: Size, session: usize) -> Vec<u8> {
        let name = script.name();
        let (path, model) = match self.kind {
            Kind::Through => (format!("/{name}{}", api.path()), name.to_owned()),
            Kind::Unbuffered => (format!("{UNBUFFERED}/{name}{}", api.path()), name.to_owned()),
            Kind::Gateway => (api.path().to_owned(), format!("bench/{name}:route")),
            Kind::Models => (api.path().to_owned(), name.to_owned()),
        };
        questions::request(self.address, &path, &questions::body(api, &model, script, size, session), session)
    }
}

async fn start_upstream() -> (Child, SocketAddr) {
    let program = std::env::current_exe().expect("this program's path");
    let mut child = Command::new(program)
        .arg("upstream")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the upstream starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let line = lines.next_line().await.expect("it can be read").expect("the upstream's address");
    (child, line.parse().expect("an address"))
}

/// A collection for each script, of one model that does it.
fn scenario(upstream: SocketAddr) -> Scenario {
    SCRIPTS.into_iter().map(Script::name).fold(Scenario::new(), |scenario, name| {
        scenario
            .endpoint(name, &format!("http://{upstream}/{name}/v1"))
            .model(name, name, name)
            .facts(json!({"tools": true}))
            .collection(name, &[name])
    })
}

/// The program that `$CRABLLM` names, else the one on the path; `None` without either.
async fn start_crabllm(upstream: SocketAddr) -> Option<(Child, TempDir, u16)> {
    let program = std::env::var_os("CRABLLM").unwrap_or_else(|| "crabllm".into());
    let port = free_port();
    let providers = SCRIPTS.into_iter().map(Script::name).map(|name| {
        format!(
            "[providers.{name}]\nkind = \"openai\"\napi_key = \"none\"\nbase_url = \"http://{upstream}/{name}/v1\"\n\
             models = [\"{name}\"]\n"
        )
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("crabllm.toml");
    let text = format!("listen = \"127.0.0.1:{port}\"\n{}", providers.collect::<String>());
    std::fs::write(&file, text).expect("its configuration");
    let mut command = Command::new(program);
    command.args(["serve", "--config"]).arg(file).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().ok()?;
    eventually("crabllm to answer", || process::is_healthy(port)).await;
    Some((child, folder, port))
}
