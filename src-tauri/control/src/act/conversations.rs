use gateway::view::ConversationView;

use super::{page, reading};
use crate::{Control, ControlError, dto::*};

impl Control {
    pub async fn conversations(&self, asked: ConversationsBefore) -> Result<Conversations, ControlError> {
        let gateway = self.gateway().clone();
        let read = move |limit| gateway.conversation_page(asked.before.as_deref(), limit);
        let (conversations, more) = page(asked.limit, read).await?;
        Ok(Conversations { conversations, more })
    }

    pub async fn conversation(&self, asked: ConversationId) -> Result<ConversationView, ControlError> {
        let gateway = self.gateway().clone();
        let id = asked.id.clone();
        let found = reading(move || gateway.conversation(&id)).await?;
        found.ok_or_else(|| unknown(&asked.id))
    }

    pub async fn turns(&self, asked: TurnsBefore) -> Result<Turns, ControlError> {
        let gateway = self.gateway().clone();
        let id = asked.conversation.clone();
        let read = move |limit| gateway.turns(&asked.conversation, asked.before, limit);
        let (mut turns, more) = page(asked.limit, read).await?;
        if !asked.texts {
            for turn in &mut turns {
                (turn.question, turn.answer) = Default::default();
            }
        }
        if turns.is_empty() {
            // An empty page is right for a conversation whose first turn runs, and wrong for one that is not.
            self.conversation(ConversationId { id }).await?;
        }
        Ok(Turns { turns, more })
    }
}

fn unknown(id: &str) -> ControlError {
    ControlError::not_found(format!("There is no conversation \"{id}\" on record."))
}
