//! Writes the TypeScript of the command table: the types as `ts-rs` knows them, one field a line.

mod layout;

use std::any::TypeId;
use std::collections::{BTreeMap, HashSet};

use gateway::view::LiveEvent;
use ts_rs::{Config, TS, TypeVisitor};

use crate::ControlError;

const HEADER: &str = "\
// Generated from the command table in src-tauri/control; do not edit.
// To write it again: UPDATE_EXPECT=1 cargo test -p control --test typescript
";

/// The file as it grows: commands in the table's order, types by name.
pub(crate) struct File {
    config: Config,
    commands: String,
    types: BTreeMap<String, String>,
    seen: HashSet<TypeId>,
}

impl Default for File {
    fn default() -> Self {
        // Counts and sizes fit a JavaScript number, and JSON knows no bigint.
        let config = Config::new().with_large_int("number");
        let mut file = File { config, commands: String::new(), types: BTreeMap::new(), seen: HashSet::new() };
        file.visit::<LiveEvent>();
        file.visit::<ControlError>();
        file
    }
}

impl File {
    pub(crate) fn command<Args: TS + 'static, Reply: TS + 'static>(&mut self, name: &str, doc: &str) {
        self.visit::<Args>();
        self.visit::<Reply>();
        self.commands.push_str(&layout::doc(doc, "  "));
        let (args, reply) = (Args::name(&self.config), Reply::name(&self.config));
        self.commands.push_str(&format!("  {name}: {{ args: {args}; result: {reply} }};\n"));
    }

    pub(crate) fn text(&self) -> String {
        let commands = &self.commands;
        let mut text = format!(
            "{HEADER}\n/** Every command: its arguments and its result. */\nexport interface Commands {{\n{commands}}}\n"
        );
        for declaration in self.types.values() {
            text.push('\n');
            text.push_str(declaration);
        }
        text
    }
}

impl TypeVisitor for File {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if !self.seen.insert(TypeId::of::<T>()) {
            return;
        }
        // Only a type of our own has a place to be written to; `Vec`, `Option` and the like lead on to one.
        if T::output_path().is_some() {
            let doc = layout::doc(&T::docs().unwrap_or_default(), "");
            let declaration = layout::declaration(&T::decl(&self.config));
            self.types.insert(T::ident(&self.config), doc + &declaration);
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}
