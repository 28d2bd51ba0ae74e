import type { EndpointView } from '../../host/gen';
import { s } from '../../strings/en';

/** Where an endpoint's key comes from, in words. */
export function keyWords(e: EndpointView): string {
  switch (e.key.source) {
    case 'environment':
      return s.endpoints.keyState.environment(e.key.variable ?? s.unknown);
    case 'keychain':
      return s.endpoints.keyState.keychain(e.key.hint);
    case 'vault_file':
      return s.endpoints.keyState.vault_file(e.key.hint);
    case 'none':
      return s.endpoints.keyState.none;
  }
}
