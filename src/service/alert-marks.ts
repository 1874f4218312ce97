/** Silences and acknowledgements of alerts. They are in the store; a copy in memory answers each look. */
import {
  type Acknowledgement,
  type AlertPlace,
  type AlertSilence,
  type NewAcknowledgement,
  type NewSilence,
  silencesMax,
} from '../model/alert.ts';
import type { Clock } from '../model/clock.ts';
import type { Store } from '../model/store/store.ts';
import type { AlertMark } from '../model/store/version-store.ts';
import type { Redaction } from '../redaction/redaction.ts';

interface AlertMarksOptions {
  readonly store: Pick<Store, 'versions'>;
  /** Notes and reasons are kept without what it removes. */
  readonly redaction: () => Pick<Redaction, 'text'> | undefined;
  readonly clock: Clock;
  readonly logger: { info(fields: { readonly [field: string]: unknown }, message: string): void };
}

/** An alert that fires for an agent. */
interface FiringPlace extends AlertPlace {
  readonly agent: string;
  readonly firingMs: number;
}

export interface AlertMarks {
  /** Reads the store: another process may have changed the marks. */
  read(): Promise<void>;
  /** The silence of an alert on an agent; of several, the one that ends last. */
  silence(alert: string, agent: string): AlertSilence | undefined;
  acknowledged(alert: string, agent: string, firingMs: number): Acknowledgement | undefined;
  /** End of the last silence; 0 without one. Kept until the alert has sent the messages that the silence held back. */
  silencedUntilMs(alert: string, agent: string): number;
  addSilence(place: AlertPlace, given: NewSilence): Promise<'done' | 'full'>;
  acknowledge(firing: readonly FiringPlace[], given: NewAcknowledgement): Promise<void>;
  /** An acknowledgement of an alert as a whole is one of each of its agents. Resolves with `false` when there is none. */
  remove(kind: AlertMark['kind'], place: AlertPlace): Promise<boolean>;
  /** Forgets the marks without an effect. */
  prune(isNeeded: (mark: AlertMark) => boolean): Promise<void>;
}

/** A silence that has ended is known for a day: what it held back is sent for as long. */
const endedMs = 86_400_000;

export function alertMarks({ store, redaction, clock, logger }: AlertMarksOptions): AlertMarks {
  const kept = (note: string): string => redaction()?.text(note) ?? note;
  let marks: readonly AlertMark[] = [];
  let writing: Promise<unknown> = Promise.resolve();

  /** After the changes under way, which would otherwise be unknown again. */
  function read(): Promise<void> {
    return inTurn(async () => void (marks = await store.versions.alertMarks()));
  }

  /** One change after the other, each on the marks that the store has then. */
  function changed(next: () => readonly AlertMark[]): Promise<void> {
    return inTurn(
      async () =>
        void (marks = await store.versions.changeAlertMarks((before) => {
          marks = before;
          return next();
        })),
    );
  }

  function inTurn(change: () => Promise<void>): Promise<void> {
    const done = writing.then(change);
    writing = done.catch(() => undefined);
    return done;
  }

  const isOf = (mark: AlertMark, alert: string, agent: string): boolean =>
    mark.alert === alert && (mark.agent === undefined || mark.agent === agent);

  function latest(alert: string, agent: string): AlertMark | undefined {
    return marks
      .filter((mark) => mark.kind === 'silence' && isOf(mark, alert, agent))
      .toSorted((one, other) => (other.untilMs ?? 0) - (one.untilMs ?? 0))[0];
  }

  function others(kind: AlertMark['kind'], { alert, agent }: AlertPlace): readonly AlertMark[] {
    return marks.filter((mark) => mark.kind !== kind || mark.alert !== alert || mark.agent !== agent);
  }

  return {
    read,
    silence(alert, agent) {
      const mark = latest(alert, agent);
      if (mark?.untilMs === undefined || mark.untilMs <= clock.nowMs()) return undefined;
      const { atMs, by, note, untilMs, agent: silenced } = mark;
      return { atMs, by, note, untilMs, agent: silenced };
    },
    acknowledged(alert, agent, firingMs) {
      const mark = marks.find((one) => one.kind === 'acknowledged' && isOf(one, alert, agent) && one.firingMs === firingMs);
      return mark === undefined ? undefined : { atMs: mark.atMs, by: mark.by, note: mark.note, firingMs };
    },
    silencedUntilMs: (alert, agent) => latest(alert, agent)?.untilMs ?? 0,
    async addSilence(place, { by, note: written, untilMs }) {
      const note = kept(written);
      const { alert, agent, tenant } = place;
      let isFull = false;
      await changed(() => {
        const atMs = clock.nowMs();
        const left = others('silence', place);
        isFull =
          left.filter((mark) => mark.kind === 'silence' && mark.tenant === tenant && (mark.untilMs ?? 0) > atMs).length >= silencesMax;
        return isFull ? marks : [...left, { kind: 'silence', alert, agent, tenant, by, note, atMs, untilMs, firingMs: undefined }];
      });
      if (isFull) return 'full';
      logger.info({ alert, agent, by, reason: note, until: untilMs }, 'an alert is silenced');
      return 'done';
    },
    async acknowledge(firing, { by, note: written }) {
      const note = kept(written);
      await changed(() => {
        const left = marks.filter(
          ({ kind, alert, agent }) => kind !== 'acknowledged' || !firing.some((one) => one.alert === alert && one.agent === agent),
        );
        const atMs = clock.nowMs();
        return [...left, ...firing.map((place) => ({ ...place, kind: 'acknowledged' as const, by, note, atMs, untilMs: undefined }))];
      });
      for (const { alert, agent } of firing) logger.info({ alert, agent, by, note }, 'an alert is acknowledged');
    },
    async remove(kind, place) {
      let isThere = false;
      await changed(() => {
        const left =
          kind === 'acknowledged' && place.agent === undefined
            ? marks.filter((mark) => mark.kind !== kind || mark.alert !== place.alert)
            : others(kind, place);
        isThere = left.length < marks.length;
        return isThere ? left : marks;
      });
      if (isThere)
        logger.info(
          { alert: place.alert, agent: place.agent },
          kind === 'silence' ? 'a silence is lifted' : 'an acknowledgement is taken back',
        );
      return isThere;
    },
    async prune(isNeeded) {
      const endedBefore = clock.nowMs() - endedMs;
      const isKept = (mark: AlertMark): boolean => (mark.untilMs === undefined || mark.untilMs > endedBefore) && isNeeded(mark);
      if (!marks.every(isKept)) await changed(() => marks.filter(isKept));
    },
  };
}
