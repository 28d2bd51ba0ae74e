import type { ConversationView, PanelView } from '../../host/gen';

/** What the page is about: a panel, or an agent's conversation. */
export type Item =
  | { id: string; panel: PanelView; conversation?: never }
  | { id: string; conversation: ConversationView; panel?: never };

/** All of them, whatever happened last first. */
export function items(
  panels: readonly PanelView[],
  conversations: readonly ConversationView[],
): readonly Item[] {
  const all: Item[] = [
    ...panels.map((panel) => ({ id: panel.id, panel })),
    ...conversations.map((conversation) => ({ id: conversation.id, conversation })),
  ];
  return all.sort((a, b) => Date.parse(last(b)) - Date.parse(last(a)));
}

/** The one that began last: a turn of a conversation does not take the place of a panel that is being read. */
export function newest(all: readonly Item[]): Item | null {
  return all.reduce<Item | null>(
    (found, item) => (found && Date.parse(began(found)) >= Date.parse(began(item)) ? found : item),
    null,
  );
}

/** How many began after this one. */
export function begunAfter(all: readonly Item[], item: Item): number {
  return all.filter((other) => Date.parse(began(other)) > Date.parse(began(item))).length;
}

/** An agent's conversation by its id, and not a panel. */
export function isConversation(id: string): boolean {
  return id.startsWith('r');
}

function began(item: Item): string {
  return item.panel ? item.panel.at : item.conversation.at;
}

function last(item: Item): string {
  return item.panel ? item.panel.at : item.conversation.last_at;
}
