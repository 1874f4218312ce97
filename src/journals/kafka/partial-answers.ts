/** A partition without a leader fails each answer about its topic, although the others have leaders. A client with this takes such an answer. */
import { kGetApi, ResponseError, type Base } from '@platformatic/kafka';
import { signsOf } from './fault.ts';

type Callback = (error: unknown, answer?: unknown) => void;

/** The leader of such a partition is -1. */
export function takePartialAnswers(client: Pick<Base, typeof kGetApi>): void {
  client[kGetApi] = new Proxy(client[kGetApi], {
    apply(apiOf, self, [name, callback]: [string, Callback]) {
      const found: Callback = (error, api) => callback(error, name === 'Metadata' && typeof api === 'function' ? forgiving(api) : api);
      Reflect.apply(apiOf, self, [name, found]);
    },
  });
}

/** The last argument of a request takes the answer. */
function forgiving<Api extends object>(api: Api): Api {
  return new Proxy(api, {
    apply(ask, self, given: unknown[]) {
      const callback = given.at(-1);
      if (typeof ask !== 'function' || typeof callback !== 'function') return;
      const answered: Callback = (error, answer) => {
        const partial = partialIn(error);
        Reflect.apply(callback, undefined, partial === undefined ? [error, answer] : [null, partial]);
      };
      Reflect.apply(ask, self, [...given.slice(0, -1), answered]);
    },
  });
}

function partialIn(error: unknown): unknown {
  if (!(error instanceof ResponseError)) return undefined;
  const isPartial = error.errors.every(
    (one) => signsOf(one).includes('LEADER_NOT_AVAILABLE') && /\/partitions\//.test(String(Reflect.get(one, 'path'))),
  );
  return isPartial ? Reflect.get(error, 'response') : undefined;
}
