use clap::{CommandFactory, Parser};

use super::{Cli, Command};

#[test]
fn the_definition_holds_together() {
    Cli::command().debug_assert();
}

/// What is understood, as the fields it sets; `!` begins the kind of a refusal.
const CASES: &[(&str, &str)] = &[
    ("serve", "Serve { port: None, bind: None, ui: None, practice: false }"),
    ("serve --port 0 --practice", "Serve { port: Some(0), bind: None, ui: None, practice: true }"),
    ("serve --bind localhost", "Serve { port: None, bind: Some(\"localhost\"), ui: None, practice: false }"),
    ("serve --bind 0.0.0.0", "! ValueValidation"),
    ("serve --port 70000", "! ValueValidation"),
    ("status", "Status"),
    ("status now", "! UnknownArgument"),
    (
        "ask core hello",
        "Ask { collection: \"core\", prompt: Some(\"hello\"), files: [], images: [], system: \"\", all: false, \
         merged: false, with: [] }",
    ),
    (
        "ask bench/core - -f a.rs --file b.rs --system brief --merged --with x --with y --image p.png",
        "Ask { collection: \"core\", prompt: Some(\"-\"), files: [\"a.rs\", \"b.rs\"], images: [\"p.png\"], \
         system: \"brief\", all: false, merged: true, with: [\"x\", \"y\"] }",
    ),
    ("ask core hello --all --merged", "! ArgumentConflict"),
    ("collection save core --shadow-share NaN", "! ValueValidation"),
    ("collection save core --shadow-share inf", "! ValueValidation"),
    ("collection save core --shadow-share 1e400", "! ValueValidation"),
    ("collection save core --shadow-share=-0.1", "! ValueValidation"),
    ("collection save core --shadow-share 1.01", "! ValueValidation"),
    ("collection save core --per day --budget-dollars nan", "! ValueValidation"),
    ("collection save core --per day --budget-dollars inf", "! ValueValidation"),
    ("collection save core --per day --budget-dollars 0", "! ValueValidation"),
    ("panel", "Panel { collection: None, shape: None }"),
    ("panel bench/core --shape review", "Panel { collection: Some(\"core\"), shape: Some(\"review\") }"),
    ("log", "Log { id: None, turn: None, search: None, before: None, limit: 20 }"),
    (
        "log r20261129-154501-9f3a6c01 --turn 3",
        "Log { id: Some(\"r20261129-154501-9f3a6c01\"), turn: Some(3), search: None, before: None, limit: 20 }",
    ),
    ("log --turn 3", "! MissingRequiredArgument"),
    ("log r1 --search lock", "! ArgumentConflict"),
    (
        "log --search lock -n 3 --before p20261129-154501-9f3a6c01",
        "Log { id: None, turn: None, search: Some(\"lock\"), before: Some(\"p20261129-154501-9f3a6c01\"), limit: 3 }",
    ),
    ("log -n 0", "! ValueValidation"),
    ("settings", "! DisplayHelpOnMissingArgumentOrSubcommand"),
    ("settings get", "Get { name: None }"),
    ("settings get max_calls", "Get { name: Some(\"max_calls\") }"),
    (
        "settings set max_calls=4 panel_on_hangup=cancel",
        "Set { changes: [(\"max_calls\", \"4\"), (\"panel_on_hangup\", \"cancel\")] }",
    ),
    ("settings set max_calls", "! ValueValidation"),
    ("settings set", "! MissingRequiredArgument"),
    ("ask", "! MissingRequiredArgument"),
    ("ask bench/ hello", "! ValueValidation"),
    ("ask core one two", "! UnknownArgument"),
    (
        "verdict p.member1 --useful",
        "Verdict { call: \"p.member1\", useful: true, not_useful: false, clear: false, note: None, real: [], \
         false_claims: [] }",
    ),
    (
        "verdict p.member1 --not-useful --note odd --real a --real b --false c",
        "Verdict { call: \"p.member1\", useful: false, not_useful: true, clear: false, note: Some(\"odd\"), \
         real: [\"a\", \"b\"], false_claims: [\"c\"] }",
    ),
    (
        "verdict p.member1 --clear",
        "Verdict { call: \"p.member1\", useful: false, not_useful: false, clear: true, note: None, real: [], \
         false_claims: [] }",
    ),
    ("verdict p.member1", "! MissingRequiredArgument"),
    ("verdict --useful", "! MissingRequiredArgument"),
    ("verdict p.member1 --useful --not-useful", "! ArgumentConflict"),
    ("verdict p.member1 --useful --clear", "! ArgumentConflict"),
    ("verdict p.member1 --clear --note odd", "! ArgumentConflict"),
    ("import -", "Import { file: \"-\" }"),
    ("import", "! MissingRequiredArgument"),
    ("export", "Export { file: None }"),
    ("export a.json", "Export { file: Some(\"a.json\") }"),
    ("owed", "Owed"),
    (
        "endpoint add groq --preset groq --key-env GROQ_API_KEY",
        "Add(AddEndpoint { name: \"groq\", base: None, preset: Some(\"groq\"), resource: None, api: None, \
         allow_plain_http: false, limits: [], headers: [], kind: None, paid: None, force: false, \
         key: KeyFrom { key_stdin: false, key_env: Some(\"GROQ_API_KEY\") } })",
    ),
    (
        "endpoint add lab --base https://x --api anthropic",
        "Add(AddEndpoint { name: \"lab\", base: Some(\"https://x\"), preset: None, resource: None, api: Some(Anthropic), \
         allow_plain_http: false, limits: [], headers: [], kind: None, paid: None, force: false, \
         key: KeyFrom { key_stdin: false, key_env: None } })",
    ),
    ("endpoint add lab --base https://x --api completions", "! InvalidValue"),
    ("endpoint add groq", "! MissingRequiredArgument"),
    ("endpoint add groq --preset groq --base http://x", "! ArgumentConflict"),
    ("endpoint add groq --preset groq --key secret", "! UnknownArgument"),
    ("endpoint key groq --key-stdin --key-env X", "! ArgumentConflict"),
    ("endpoint key groq --remove --key-stdin", "! ArgumentConflict"),
    (
        "model add groq",
        "Add(AddModels { endpoint: \"groq\", models: [], full: false, quick: false, ad_hoc: false, all: false })",
    ),
    (
        "model add groq a b=c --quick",
        "Add(AddModels { endpoint: \"groq\", models: [\"a\", \"b=c\"], full: false, quick: true, ad_hoc: false, \
         all: false })",
    ),
    ("model add groq a --quick --full", "! ArgumentConflict"),
    ("onboard", "None"),
    ("onboard stop", "Some(Stop)"),
    (
        "model set alpha --role code --ad-hoc true --fact vision=true --fact price.input= --option top_p=0.9",
        "Set(SetModel { alias: \"alpha\", role: Some(\"code\"), ad_hoc: Some(true), facts: [(\"vision\", \"true\"), \
         (\"price.input\", \"\")], options: [(\"top_p\", \"0.9\")] })",
    ),
    ("model set alpha", "! MissingRequiredArgument"),
    ("model set alpha --fact vision", "! ValueValidation"),
    ("model set alpha --fact =true", "! ValueValidation"),
    ("model retire alpha", "! MissingRequiredArgument"),
    ("model rename alpha omega", "Rename { alias: \"alpha\", to: \"omega\" }"),
    ("model refresh", "Refresh"),
    ("model allow alpha", "Allow { alias: \"alpha\" }"),
    ("model retire alpha --why slow", "Retire { alias: \"alpha\", why: \"slow\" }"),
    ("model restore alpha", "Restore { alias: \"alpha\" }"),
    (
        "endpoint set groq --limit rpm=30 --limit tpd=",
        "Set(SetEndpoint { name: \"groq\", limits: [(\"rpm\", \"30\"), (\"tpd\", \"\")], headers: [], kind: None, paid: None })",
    ),
    ("endpoint set groq", "! MissingRequiredArgument"),
    ("limits", "None"),
    ("limits clear alpha", "Some(Clear { name: \"alpha\" })"),
    ("spend --by collection --since 7d", "Spend { by: Collection, since: Some(\"7d\") }"),
    ("spend --by colour", "! InvalidValue"),
    ("collection save core --budget-tokens 5", "! MissingRequiredArgument"),
    ("collection save core --no-budget --per day", "! ArgumentConflict"),
    (
        "key create desk",
        "Create(CreateKey { name: \"desk\", collections: [], rpm: None, budget_tokens: None, budget_dollars: None, \
         per: None, expires: None })",
    ),
    (
        "key create desk --collection core -c bench/lab --rpm 60 --budget-tokens 5 --budget-dollars 0.5 --per day \
         --expires +30d",
        "Create(CreateKey { name: \"desk\", collections: [\"core\", \"lab\"], rpm: Some(60), budget_tokens: Some(5), \
         budget_dollars: Some(0.5), per: Some(\"day\"), expires: Some(\"+30d\") })",
    ),
    ("key create", "! MissingRequiredArgument"),
    ("key create desk --budget-tokens 5", "! MissingRequiredArgument"),
    ("key create desk --text bwk_x", "! UnknownArgument"),
    ("key list", "List"),
    ("key revoke desk", "Revoke { name: \"desk\" }"),
    ("key revoke", "! MissingRequiredArgument"),
    ("collection show bench/core", "Show { name: \"core\" }"),
    (
        "collection save bench/core -m a --member b --tag code",
        "Save(SaveCollection { name: \"core\", members: [\"a\", \"b\"], description: None, tags: [\"code\"], \
         shape: None, reply: None, merger: None, when_too_large: None, shadow: None, shadow_share: None, \
         shadow_tokens: None, budget_tokens: None, budget_dollars: None, per: None, no_budget: false })",
    ),
    (
        "collection save core --reply merged --merger alpha",
        "Save(SaveCollection { name: \"core\", members: [], description: None, tags: [], shape: None, reply: \
         Some(\"merged\"), merger: Some(\"alpha\"), when_too_large: None, shadow: None, shadow_share: None, \
         shadow_tokens: None, budget_tokens: None, budget_dollars: None, per: None, no_budget: false })",
    ),
    (
        "collection save core --reply route --shadow 2 --shadow-share 0.25 --shadow-tokens 50000",
        "Save(SaveCollection { name: \"core\", members: [], description: None, tags: [], shape: None, reply: \
         Some(\"route\"), merger: None, when_too_large: None, shadow: Some(2), shadow_share: Some(0.25), \
         shadow_tokens: Some(50000), budget_tokens: None, budget_dollars: None, per: None, no_budget: false })",
    ),
    ("collection save core --reply turn", "! InvalidValue"),
    ("collection save core --shadow 4", "! ValueValidation"),
    ("vault", "Vault { passphrase_stdin: false }"),
    ("vault hunter2", "! UnknownArgument"),
    ("completions bash", "Completions { shell: Bash }"),
    ("completions csh", "! InvalidValue"),
    ("help", "! InvalidSubcommand"),
    ("", "! DisplayHelpOnMissingArgumentOrSubcommand"),
    ("--version", "! DisplayVersion"),
    ("ask --help", "! DisplayHelp"),
];

#[test]
fn what_is_understood() {
    for (line, wanted) in CASES {
        let words = std::iter::once("bench").chain(line.split_whitespace());
        let understood = match Cli::try_parse_from(words) {
            Ok(cli) => in_short(&cli.command),
            Err(error) => format!("! {:?}", error.kind()),
        };
        assert_eq!(&understood, wanted, "bench {line}");
    }
}

/// `Ask(Ask { … })` is the variant and the struct of the same name: one is enough.
fn in_short(command: &Command) -> String {
    match command {
        Command::Serve(args) => format!("{args:?}"),
        Command::Ask(args) => format!("{args:?}"),
        Command::Verdict(args) => format!("{args:?}"),
        Command::Import(args) => format!("{args:?}"),
        Command::Export(args) => format!("{args:?}"),
        Command::Vault(args) => format!("{args:?}"),
        Command::Panel(args) => format!("{args:?}"),
        Command::Log(args) => format!("{args:?}"),
        Command::Spend(command) => format!("{command:?}"),
        Command::Limits { command } => format!("{command:?}"),
        Command::Onboard { command } => format!("{command:?}"),
        Command::Settings(command) => format!("{command:?}"),
        Command::Endpoint(command) => format!("{command:?}"),
        Command::Model(command) => format!("{command:?}"),
        Command::Key(command) => format!("{command:?}"),
        Command::Collection(command) => format!("{command:?}"),
        Command::Status | Command::Owed | Command::Completions { .. } => format!("{command:?}"),
    }
}

#[test]
fn what_every_command_takes() {
    for line in [
        "bench --json --data-dir d --url u -y --color never owed",
        "bench owed --json --data-dir d --url u --yes --color=never",
    ] {
        let cli = Cli::try_parse_from(line.split_whitespace()).unwrap();
        assert_eq!(
            format!("{:?}", cli.common),
            "Common { json: true, data_dir: Some(\"d\"), url: Some(\"u\"), yes: true, color: Never }",
            "{line}"
        );
    }
}
