/** Makes and looks at the topic of a journal. */
import { kafkaAdmin } from './client.ts';
import { kafkaFault, signsOf, type KafkaFault } from './fault.ts';
import type { KafkaAddress } from './address.ts';

export interface NewTopic {
  readonly partitions: number;
  /** Brokers that have each record. */
  readonly copies: number;
  readonly retentionMs: number;
  readonly recordBytesMax: number;
}

export async function makeTopic(
  rest: string,
  address: KafkaAddress,
  { partitions, copies, retentionMs, recordBytesMax }: NewTopic,
): Promise<'made' | 'exists' | KafkaFault> {
  const admin = await kafkaAdmin(address);
  try {
    await admin.createTopics({
      topics: [address.topic],
      partitions,
      replicas: copies,
      configs: [
        { name: 'retention.ms', value: String(retentionMs) },
        { name: 'max.message.bytes', value: String(recordBytesMax) },
        // One broker may be away, and what is acknowledged is on two others.
        ...(copies > 2 ? [{ name: 'min.insync.replicas', value: '2' }] : []),
      ],
    });
    return 'made';
  } catch (error) {
    return signsOf(error).includes('TOPIC_ALREADY_EXISTS') ? 'exists' : kafkaFault(error, rest, address);
  } finally {
    await admin.close().catch(() => undefined);
  }
}

/** `name`: under which the store has the topic. `ends`: the offset behind the last record, by partition. */
export async function topicEnds(
  rest: string,
  address: KafkaAddress,
): Promise<{ readonly name: string; readonly ends: readonly number[] } | KafkaFault> {
  const admin = await kafkaAdmin(address);
  try {
    const topic = (await admin.metadata({ topics: [address.topic] })).topics.get(address.topic);
    const count = topic?.partitionsCount ?? 0;
    const partitions = Array.from({ length: count }, (_, partitionIndex) => ({ partitionIndex, timestamp: latest }));
    const [found] = await admin.listOffsets({ topics: [{ name: address.topic, partitions }] });
    const ends = new Map((found?.partitions ?? []).map(({ partitionIndex, offset }) => [partitionIndex, Number(offset)]));
    return { name: `${address.topic} ${topic?.id ?? ''}`, ends: partitions.map(({ partitionIndex }) => ends.get(partitionIndex) ?? 0) };
  } catch (error) {
    return kafkaFault(error, rest, address);
  } finally {
    await admin.close().catch(() => undefined);
  }
}

const latest = -1n;
