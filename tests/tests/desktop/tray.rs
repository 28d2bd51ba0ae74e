//! The tray item as the desktop's panel sees it, over D-Bus: `org.kde.StatusNotifierItem` and
//! `com.canonical.dbusmenu`.

use std::collections::HashMap;

use bench_tests::eventually;
use zbus::{Connection, OwnedObjectPath, OwnedVariant, Variant};

const WATCHER: &str = "org.kde.StatusNotifierWatcher";
const MENU: &str = "com.canonical.dbusmenu";

pub struct Tray {
    bus: Connection,
    /// The bus name of whoever shows the item.
    owner: String,
    item: String,
    menu: OwnedObjectPath,
}

/// What `GetLayout` answers: a revision, then the root's id, properties and children.
type Layout = (u32, (i32, HashMap<String, OwnedVariant>, Vec<OwnedVariant>));

/// A line of the menu.
#[derive(Clone, Debug)]
pub struct Line {
    pub id: i32,
    /// Empty for a separator.
    pub label: String,
    pub enabled: bool,
    /// Of a check box.
    pub on: bool,
}

impl Tray {
    /// Waits for the item that process `pid` has registered.
    pub async fn of(pid: u32) -> Tray {
        let bus = Connection::session().await.expect("a session bus");
        let (owner, item) = eventually("the tray item", || registered(&bus, pid)).await;
        let menu = property(&bus, &owner, &item, "org.kde.StatusNotifierItem", "Menu").await.expect("a menu");
        let menu = OwnedObjectPath::try_from(menu).expect("the menu's path");
        Tray { bus, owner, item, menu }
    }

    /// The whole menu, top to bottom, submenus after their line.
    pub async fn menu(&self) -> Vec<Line> {
        let layout = self
            .bus
            .call_method(
                Some(self.owner.as_str()),
                &self.menu,
                Some(MENU),
                "GetLayout",
                &(0_i32, -1_i32, Vec::<&str>::new()),
            )
            .await
            .expect("the menu's layout");
        let (_, (_, _, children)): Layout = layout.body().deserialize().expect("a layout");
        let mut lines = Vec::new();
        children.iter().for_each(|child| read(child, &mut lines));
        lines
    }

    pub async fn labels(&self) -> Vec<String> {
        self.menu().await.into_iter().map(|line| line.label).filter(|label| !label.is_empty()).collect()
    }

    /// Waits for a line that says `label`.
    pub async fn line(&self, label: &str) -> Line {
        eventually(&format!("{label:?} in the menu"), || async {
            self.menu().await.into_iter().find(|line| line.label == label)
        })
        .await
    }

    /// Clicks the line that says `label`.
    pub async fn click(&self, label: &str) {
        let line = self.line(label).await;
        assert!(line.enabled, "{label} is greyed");
        let event = (line.id, "clicked", Variant::from(0_i32), 0_u32);
        self.bus
            .call_method(Some(self.owner.as_str()), &self.menu, Some(MENU), "Event", &event)
            .await
            .expect("the menu takes a click");
    }

    /// The bytes of the icon that is shown: it is a file, named anew with each change.
    pub async fn icon(&self) -> Vec<u8> {
        let name =
            property(&self.bus, &self.owner, &self.item, "org.kde.StatusNotifierItem", "IconName").await;
        let path = String::try_from(name.expect("an icon")).expect("its path");
        std::fs::read(&path).unwrap_or_default()
    }

    /// Waits until the icon is that of `icons/tray/<state>.png`, pixel by pixel.
    pub async fn shows(&self, state: &str) {
        let drawn = bench_tests::process::repository().join(format!("icons/tray/{state}.png"));
        let want = pixels(&std::fs::read(&drawn).expect("the drawn icon"));
        eventually(&format!("the {state} icon"), || async {
            (pixels(&self.icon().await) == want).then_some(())
        })
        .await;
    }
}

async fn registered(bus: &Connection, pid: u32) -> Option<(String, String)> {
    let items =
        property(bus, WATCHER, "/StatusNotifierWatcher", WATCHER, "RegisteredStatusNotifierItems").await?;
    for item in Vec::<String>::try_from(items).expect("a list of items") {
        let Some(slash) = item.find('/') else { continue };
        let (owner, path) = item.split_at(slash);
        let daemon = Some("org.freedesktop.DBus");
        let reply = bus
            .call_method(daemon, "/org/freedesktop/DBus", daemon, "GetConnectionUnixProcessID", &owner)
            .await;
        if reply.ok().and_then(|reply| reply.body().deserialize::<u32>().ok()) == Some(pid) {
            return Some((owner.to_owned(), path.to_owned()));
        }
    }
    None
}

async fn property(
    bus: &Connection,
    owner: &str,
    path: &str,
    interface: &str,
    name: &str,
) -> Option<OwnedVariant> {
    let reply = bus
        .call_method(Some(owner), path, Some("org.freedesktop.DBus.Properties"), "Get", &(interface, name))
        .await
        .ok()?;
    reply.body().deserialize::<OwnedVariant>().ok()
}

/// `(ia{sv}av)`: id, properties, children.
fn read(node: &Variant<'_>, lines: &mut Vec<Line>) {
    let Variant::Structure(node) = node else { panic!("not a menu line: {node:?}") };
    let [Variant::I32(id), Variant::Dict(properties), Variant::Array(children)] = node.fields() else {
        panic!("not a menu line: {node:?}")
    };
    let text = |key: &str| properties.get::<_, String>(&key).ok().flatten().unwrap_or_default();
    let enabled = properties.get::<_, bool>(&"enabled").ok().flatten().unwrap_or(true);
    let on = properties.get::<_, i32>(&"toggle-state").ok().flatten() == Some(1);
    lines.push(Line { id: *id, label: text("label").replace("__", "_"), enabled, on });
    for child in children.iter() {
        match child {
            Variant::Variant(child) => read(child, lines),
            child => read(child, lines),
        }
    }
}

/// Width, height and colours of a PNG: ImageMagick's signature of the decoded picture.
fn pixels(png: &[u8]) -> String {
    use std::io::Write as _;
    let mut identify = std::process::Command::new("identify")
        .args(["-quiet", "-format", "%w %h %#", "png:-"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("identify runs");
    // A half-written icon makes it stop reading.
    let _ = identify.stdin.take().expect("piped").write_all(png);
    let output = identify.wait_with_output().expect("identify ends");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
