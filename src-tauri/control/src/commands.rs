//! The command table. A line here is a command over IPC, over HTTP and in TypeScript.

use gateway::view::{ConversationView, PanelPreview, PanelView};
use plan::Settings;

use crate::dto::*;

commands! {
    /// Address, state, what is owed.
    status(Nothing) -> Status;
    /// Endpoints, models, collections, settings.
    setup(Nothing) -> SetupView;
    presets(Nothing) -> Vec<PresetView>;
    /// Local runtimes on loopback and provider keys in the environment; takes up to a second.
    found(Nothing) -> Found;
    /// Practice endpoint, its models and the collection `practice`; idempotent.
    start_practice(Nothing) -> CollectionView;

    save_endpoint(SaveEndpoint) -> EndpointView;
    /// Lists what a saved endpoint serves, or says in words what is wrong.
    test_endpoint(Name) -> EndpointTest;
    /// Refused while its models are members of a collection.
    delete_endpoint(Name) -> Nothing;
    set_key(SetKey) -> EndpointView;
    delete_key(Name) -> EndpointView;
    /// Makes the encrypted file (the owner's explicit choice) or unlocks it.
    open_vault_file(Passphrase) -> KeyStoreStatus;

    register_models(RegisterModels) -> Vec<ModelView>;
    /// Refused while it is a member of a collection. Its record stays.
    unregister_model(Name) -> Nothing;
    /// A registered model, and of each fact what holds and who says what.
    model(Name) -> ModelSheet;
    /// Role, ad hoc, facts and options of a registered model; what is absent stays.
    save_model(SaveModel) -> ModelView;
    /// From now on it is never called; its record and its seats in collections stay.
    retire_model(RetireModel) -> ModelView;
    restore_model(Name) -> ModelView;
    /// Puts models of an endpoint into the queue: each is registered, and probed.
    onboard(Onboard) -> OnboardingQueue;
    /// Probes a registered model again, after those that wait.
    probe_model(Name) -> OnboardingQueue;
    onboarding(Nothing) -> OnboardingQueue;
    /// Cancels the step under way; no more is taken until the queue is resumed.
    stop_onboarding(Nothing) -> OnboardingQueue;
    resume_onboarding(Nothing) -> OnboardingQueue;
    clear_onboarding(ClearOnboarding) -> OnboardingQueue;
    /// Models of a listing that are not to be offered.
    dismiss_models(ServedModels) -> Nothing;
    restore_dismissed(ServedModels) -> Nothing;
    /// Its record, its seats in collections and its conversations follow; the old name is given to no other model.
    rename_model(RenameModel) -> ModelView;
    /// Lets a model be called that was free and costs money now.
    allow_paid(Name) -> ModelView;
    /// Fetches the public lists of models now; one that fails says why.
    refresh_catalog(Nothing) -> CatalogView;
    /// How every registered model stands, and what is on its record.
    model_records(Nothing) -> Vec<ModelRecord>;
    /// Rules and what is used of them, what providers say of quotas, and what is left alone for a while.
    limits(Nothing) -> LimitsView;
    /// Ends the cooldown of a model (by its alias) and of its connection, or of a connection (by its name).
    clear_cooldown(Name) -> Nothing;
    /// What calls took, the dearest first.
    spend(SpendQuery) -> Spend;

    /// Makes a gateway key; its text is told here and never again.
    create_key(CreateKey) -> NewKey;
    /// Every gateway key there ever was, in the order they were made.
    keys(Nothing) -> Vec<GatewayKeyView>;
    /// From now on the key opens nothing; it stays in the list.
    revoke_key(Name) -> GatewayKeyView;

    save_collection(SaveCollection) -> CollectionView;
    delete_collection(Name) -> Nothing;
    save_settings(Settings) -> Settings;
    import_setup(SetupText) -> Imported;
    export_setup(Nothing) -> SetupText;

    /// Seats a panel and returns at once; it is watched by events.
    ask(Ask) -> Asked;
    panels(PanelsBefore) -> Panels;
    panel(PanelId) -> PanelView;
    conversations(ConversationsBefore) -> Conversations;
    conversation(ConversationId) -> ConversationView;
    turns(TurnsBefore) -> Turns;
    give_verdict(GiveVerdict) -> Recorded;
    /// Withdraws the verdict; the earlier stays in history.
    clear_verdict(CallId) -> Recorded;
    owed(Nothing) -> Owed;
    /// Panels in which the words stand together, newest first.
    search(Search) -> SearchHits;
    /// Who would sit if a panel were asked now, and why.
    preview_panel(PreviewPanel) -> PanelPreview;
}
