/** The place of this process in the consumer group. */
import type { ClusterTopicMetadata } from '@platformatic/kafka';
import type { Clock } from '../../model/clock.ts';
import type { KafkaClients } from './client.ts';

interface MembershipOptions {
  readonly member: Pick<KafkaClients['member'], 'isActive' | 'memberId' | 'metadata' | 'joinGroup'>;
  readonly topic: string;
  readonly clock: Clock;
  /** The topic when last seen. */
  readonly newest: () => ClusterTopicMetadata | undefined;
}

export interface Membership {
  /** Joins the group where that is due. Rejects when the broker does not answer. */
  stay(): Promise<void>;
  /** After a failure: a member that is in no group joins at the next call of `stay`. */
  hurry(): void;
}

/** A member that is in no group for this long joins again. */
const outsideMs = 30_000;

export function membership({ member, topic, clock, newest }: MembershipOptions): Membership {
  let outsideSinceMs: number | undefined;
  /** The topic when this process joined. */
  let joinedTo = { partitionsCount: 0, lastUpdate: 0 };

  async function join(): Promise<void> {
    const { topics } = await member.metadata({ topics: [topic], forceUpdate: true });
    await member.joinGroup({});
    joinedTo = topics.get(topic) ?? joinedTo;
  }

  return {
    async stay() {
      if (member.isActive()) {
        outsideSinceMs = undefined;
        const found = newest();
        // The group gives out added partitions when its leader joins again.
        if (found !== undefined && found.lastUpdate > joinedTo.lastUpdate && found.partitionsCount !== joinedTo.partitionsCount)
          await join();
        return;
      }
      const nowMs = clock.nowMs();
      const isNew = outsideSinceMs === undefined && member.memberId === null;
      outsideSinceMs ??= nowMs;
      if (!isNew && nowMs - outsideSinceMs < outsideMs) return;
      outsideSinceMs = nowMs;
      await join();
    },
    hurry() {
      outsideSinceMs = member.isActive() ? undefined : clock.nowMs() - outsideMs;
    },
  };
}
