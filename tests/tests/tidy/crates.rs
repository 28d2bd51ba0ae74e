use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    sync::OnceLock,
};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};

use crate::tree;

/// The edges that are allowed between the workspace's packages: they point down only. A package that is not
/// here may depend on none.
const EDGES: &[(&str, &[&str])] = &[
    ("benchwarmers", &["control", "gateway"]),
    ("cli", &["control", "gateway"]),
    ("control", &["gateway", "plan", "catalog", "wire"]),
    ("gateway", &["plan", "catalog", "store", "vault", "wire"]),
    ("plan", &["catalog", "wire"]),
    ("catalog", &["wire"]),
    // Tests may look into every library, and start the programs.
    ("bench-tests", &["control", "gateway", "plan", "catalog", "store", "vault", "wire"]),
];

/// Packages that one crate alone may know.
const OWNED: &[(&str, &str)] =
    &[("tauri", "benchwarmers"), ("rusqlite", "store"), ("reqwest", "gateway"), ("keyring", "vault")];

/// `tree` must not hold any package whose name starts so.
const NOT_IN_TREE: &[(&str, &[&str])] = &[
    // No I/O and no runtime in the wire formats.
    ("wire", &["tokio", "hyper", "reqwest", "axum", "mio", "socket2"]),
    // Decisions are pure.
    ("plan", &["tokio", "hyper", "reqwest", "axum", "mio", "rusqlite"]),
    // `bench` runs where there is no screen.
    (
        "cli",
        &["gtk", "gdk", "glib", "webkit", "javascriptcore", "soup", "tauri", "wry", "tao", "libappindicator"],
    ),
];

#[test]
fn edges_between_crates_point_down() {
    let members: BTreeSet<&str> = members().map(|package| package.name.as_str()).collect();
    for package in self::members() {
        let allowed = EDGES.iter().find(|(name, _)| package.name == *name).map_or(&[][..], |(_, to)| to);
        for dependency in &package.dependencies {
            let name = dependency.name.as_str();
            assert!(
                !members.contains(name) || allowed.contains(&name),
                "{} must not depend on {name}: it may on {allowed:?}. See ARCHITECTURE.md",
                package.name
            );
        }
    }
    let known: BTreeSet<&str> =
        EDGES.iter().flat_map(|(from, to)| to.iter().chain([from])).copied().collect();
    let gone: Vec<_> = known.difference(&members).collect();
    assert!(gone.is_empty(), "the table of edges names what is not in the workspace: {gone:?}");
}

#[test]
fn some_packages_have_one_owner() {
    for (owned, owner) in OWNED {
        let users: Vec<&str> = members()
            .filter(|package| {
                let family = format!("{owned}-");
                package.dependencies.iter().any(|it| it.name == *owned || it.name.starts_with(&family))
            })
            .map(|package| package.name.as_str())
            .collect();
        assert_eq!(users, [*owner], "{owned} belongs to {owner} alone");
    }
}

#[test]
fn what_must_not_be_linked_is_not_in_the_tree() {
    for (name, banned) in NOT_IN_TREE {
        let package = members().find(|package| package.name == *name).expect("it is a member");
        let tree = dependencies(&package.id);
        assert!(tree.len() > 1, "{name} has no dependency at all: does this test look right?");
        let found: Vec<_> =
            tree.iter().filter(|in_tree| banned.iter().any(|start| in_tree.starts_with(start))).collect();
        assert!(
            found.is_empty(),
            "{name} must not link {found:?}; `cargo tree -p {name} -i NAME` says why it does"
        );
    }
}

#[test]
fn every_crate_says_what_it_is() {
    for package in members() {
        let description = package.description.as_deref().unwrap_or_default();
        assert!(!description.is_empty(), "{} has no description in its Cargo.toml", package.name);
        for target in &package.targets {
            if !(target.is_lib() || target.is_bin()) {
                continue;
            }
            let text = fs::read_to_string(&target.src_path).expect("a target's source");
            let doc = text.lines().next().and_then(|line| line.strip_prefix("//! ")).unwrap_or_default();
            assert!(!doc.is_empty(), "{} does not begin with a doc comment", target.src_path);
        }
    }
}

#[test]
fn every_crate_stands_in_the_architecture() {
    let architecture = tree::read("ARCHITECTURE.md");
    for package in members() {
        let source = package
            .targets
            .iter()
            .find(|target| target.is_lib() || target.is_bin())
            .expect("a library or program");
        let source =
            source.src_path.strip_prefix(&metadata().workspace_root).expect("inside the tree").as_str();
        let folder = source.split("src/").next().expect("its folder");
        assert!(
            architecture.contains(&format!("### `{folder}`\n")),
            "ARCHITECTURE.md has no part for {folder}"
        );
    }
}

fn metadata() -> &'static Metadata {
    static METADATA: OnceLock<Metadata> = OnceLock::new();
    METADATA.get_or_init(|| {
        let mut command = MetadataCommand::new();
        command.current_dir(tree::root()).other_options(["--locked".to_owned()]);
        command.exec().expect("cargo metadata")
    })
}

fn members() -> impl Iterator<Item = &'static Package> {
    metadata().workspace_packages().into_iter()
}

/// Names of everything that is linked into a package on any platform, itself included.
fn dependencies(of: &PackageId) -> BTreeSet<&'static str> {
    let resolve = metadata().resolve.as_ref().expect("a resolved graph");
    let nodes: BTreeMap<_, _> = resolve.nodes.iter().map(|node| (&node.id, node)).collect();
    let mut seen = BTreeSet::from([of]);
    let mut next = vec![of];
    while let Some(id) = next.pop() {
        for dependency in &nodes[id].deps {
            let is_linked = dependency.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal);
            if is_linked && seen.insert(&dependency.pkg) {
                next.push(&dependency.pkg);
            }
        }
    }
    seen.into_iter().map(|id| metadata()[id].name.as_str()).collect()
}
