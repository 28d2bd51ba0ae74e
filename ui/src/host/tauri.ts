// The only importer of `@tauri-apps/*`. The shell has five commands: `control` and `listen` are the gateway's
// control API, `open_url`, `copy_text` and `save_text` are what a web view may not do by itself.
import { Channel, invoke } from '@tauri-apps/api/core';
import type { LiveEvent } from './gen';
import { asControlError, type Host } from './host';

export function tauriHost(): Host {
  return {
    async call(command, args) {
      try {
        return await invoke('control', { command, args });
      } catch (e) {
        throw asControlError(e);
      }
    },
    async listen(onEvent, onLink) {
      const channel = new Channel<LiveEvent>();
      channel.onmessage = onEvent;
      await invoke('listen', { channel });
      onLink('up');
      return () => {
        channel.onmessage = () => {};
      };
    },
    openUrl: (url) => invoke('open_url', { url }),
    copy: (text) => invoke('copy_text', { text }),
    saveText: (name, text) => invoke('save_text', { name, text }),
  };
}
