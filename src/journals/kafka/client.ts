/** The client of Kafka. It loads with the first journal that uses it. */
import type { Admin, BaseOptions, Consumer, Producer } from '@platformatic/kafka';
import type { KafkaAddress } from './address.ts';

export interface KafkaClients {
  readonly producer: Producer<Buffer, Buffer, Buffer, Buffer>;
  /** Member of the group. A request of it may wait for the group, so records are read by another client. */
  readonly member: Consumer<Buffer, Buffer, Buffer, Buffer>;
  readonly reader: Consumer<Buffer, Buffer, Buffer, Buffer>;
  close(): Promise<void>;
}

/** A broker that does not answer for this long counts as gone. */
const answerMs = 8_000;
const connectMs = 3_000;
/** After a death the group waits this long before it gives the partitions to others. */
const sessionMs = 10_000;
const heartbeatMs = 1_000;
const rebalanceMs = 10_000;
/** Partitions of a topic are looked up again after this time. */
const metadataMs = 30_000;
const retries = 2;

function shared({ brokers, tls, sasl }: KafkaAddress): BaseOptions {
  return {
    clientId: 'tracejury',
    bootstrapBrokers: [...brokers],
    connectTimeout: connectMs,
    requestTimeout: answerMs,
    timeout: answerMs,
    retries,
    retryDelay: heartbeatMs / 4,
    metadataMaxAge: metadataMs,
    ...(tls ? { tls: {} } : {}),
    ...(sasl === undefined ? {} : { sasl }),
  };
}

export async function kafkaClients(address: KafkaAddress, bounds: { readonly fetchBytesMax: number }): Promise<KafkaClients> {
  const { Consumer: ConsumerOf, Producer: ProducerOf } = await import('@platformatic/kafka');
  const { takePartialAnswers } = await import('./partial-answers.ts');
  // The sender looks up leaders when they are due, so that no request waits for a lookup.
  const producer: KafkaClients['producer'] = new ProducerOf({ ...shared(address), metadataMaxAge: Number.MAX_SAFE_INTEGER });
  const consumer = {
    ...shared(address),
    groupId: address.group,
    autocommit: false,
    minBytes: 1,
    maxBytes: bounds.fetchBytesMax,
    maxWaitTime: heartbeatMs / 4,
    sessionTimeout: sessionMs,
    heartbeatInterval: heartbeatMs,
    rebalanceTimeout: rebalanceMs,
    protocols: [{ name: 'cooperative-sticky', version: 3 }],
  };
  const member: KafkaClients['member'] = new ConsumerOf(consumer);
  const reader: KafkaClients['reader'] = new ConsumerOf(consumer);
  // A failed request rejects as well, and the next one connects again.
  for (const client of [producer, member, reader]) {
    client.on('error', () => undefined);
    takePartialAnswers(client);
  }
  for (const client of [member, reader]) client.topics.track(address.topic);
  return {
    producer,
    member,
    reader,
    async close() {
      await member.close(true).catch(() => undefined);
      await reader.close(true).catch(() => undefined);
      await producer.close().catch(() => undefined);
    },
  };
}

export async function kafkaAdmin(address: KafkaAddress): Promise<Admin> {
  const { Admin: AdminOf } = await import('@platformatic/kafka');
  return new AdminOf(shared(address));
}
