/** Tells of refusals: the first of a kind at once, later ones at most once a minute, with how many there were since. */
import type { Clock } from '../model/clock.ts';
import type { ReceiverLogger } from './receiver.ts';
import type { Refusal } from './rejection.ts';

export function refusalLog(options: { readonly logger: ReceiverLogger; readonly clock: Clock }): (refusal: Refusal) => void {
  const kinds = new Map<string, { toldAtMs: number; untold: number }>();
  return (refusal) => {
    const nowMs = options.clock.nowMs();
    const known = kinds.get(refusal.kind);
    if (known !== undefined && nowMs - known.toldAtMs < silenceMs) {
      known.untold++;
      return;
    }
    kinds.set(refusal.kind, { toldAtMs: nowMs, untold: 0 });
    options.logger.warn(
      {
        kind: refusal.kind,
        status: refusal.status,
        refused: 1 + (known?.untold ?? 0),
        ...(refusal.todo === undefined ? {} : { todo: refusal.todo }),
      },
      'requests were refused',
    );
  };
}

/** A client that is refused keeps sending; its hundredth refusal says nothing new. Kinds are a fixed set, so the map is bounded. */
const silenceMs = 60_000;
