/**
 * Requests that the service cannot take yet wait here for a moment, oldest first. A client that waits for its answer sends nothing meanwhile,
 * and one that is refused stays away for a second at least.
 */
import type { HeldRequests, HoldEnd, HoldRequest } from '../../model/ingest.ts';
import type { Context } from '../../telemetry/context.ts';

export interface HeldRequestsOptions extends Pick<Context, 'sleep' | 'telemetry'> {
  readonly requestsMax: number;
  /** Longest time that a request is held. */
  readonly holdMs?: number;
}

export interface HoldingRequests extends HeldRequests {
  /** Takes requests that have room now, oldest first. Called regularly. */
  letIn(): void;
  isHolding(): boolean;
}

/** Exporters wait ten seconds for an answer. */
const holdMsMax = 1_000;
/** Share of the places that one sender may have. */
const senderShare = 0.5;

interface Held {
  readonly lane: string;
  readonly sender: string;
  /** `false`: there is no room yet. */
  letIn(): boolean;
  isLaneOpen(): boolean;
  end(): void;
}

export function heldRequests({ sleep, telemetry, requestsMax, holdMs = holdMsMax }: HeldRequestsOptions): HoldingRequests {
  /** In the order of their arrival. */
  const held = new Set<Held>();
  const count = (outcome: string): void => telemetry.add('tracejury.receiver.holds', 1, { 'tracejury.outcome': outcome });

  function hasPlace(sender: string): boolean {
    if (held.size >= requestsMax) return false;
    let own = 0;
    for (const one of held) if (one.sender === sender) own++;
    return own < Math.max(1, requestsMax * senderShare);
  }

  function hold<Taken>({ lane, sender, take, outlook, waitMsMax = Infinity, whenGone }: HoldRequest<Taken>): Promise<HoldEnd<Taken>> {
    return new Promise((resolve) => {
      const timer = new AbortController();
      const end = (outcome: string, result: HoldEnd<Taken>): void => {
        if (!held.delete(own)) return;
        timer.abort();
        count(outcome);
        telemetry.set('tracejury.receiver.held', held.size);
        resolve(result);
      };
      const own: Held = {
        lane,
        sender,
        letIn() {
          const taken = take();
          if (taken === undefined) return false;
          end('admitted', { kind: 'taken', taken });
          return true;
        },
        isLaneOpen: () => outlook() === 'open',
        end: () => end('stopped', { kind: 'refused' }),
      };
      held.add(own);
      telemetry.set('tracejury.receiver.held', held.size);
      whenGone(() => end('gone', { kind: 'gone' }));
      void sleep(Math.min(holdMs, waitMsMax), timer.signal).then(() => end('refused', { kind: 'refused' }));
    });
  }

  return {
    enter(request) {
      const waits = request.outlook() !== 'open' && [...held].some(({ lane }) => lane === request.lane);
      const taken = waits ? undefined : request.take();
      if (taken !== undefined) return { kind: 'taken', taken };
      if (request.outlook() === 'later') return { kind: 'refused' };
      if (hasPlace(request.sender)) return hold(request);
      count('no_place');
      return { kind: 'refused' };
    },
    letIn() {
      const full = new Set<string>();
      for (const one of held) if (!full.has(one.lane) && !one.letIn() && !one.isLaneOpen()) full.add(one.lane);
    },
    isHolding: () => held.size > 0,
    stop() {
      for (const one of held) one.end();
    },
  };
}
