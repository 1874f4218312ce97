/** Says in words what is wrong with the brokers or with what they are asked for. */
import { kafkaName, type KafkaAddress } from './address.ts';

export interface KafkaFault {
  readonly cause: string;
  readonly todo: string;
}

interface Row {
  /** Any of these is the fault. */
  readonly signs: RegExp;
  /** Follows the address. */
  readonly cause: (address: KafkaAddress) => string;
  readonly todo: string;
}

/** The first that fits. */
const rows: readonly Row[] = [
  {
    signs: /^(?:SASL_AUTHENTICATION_FAILED|ILLEGAL_SASL_STATE|UNSUPPORTED_SASL_MECHANISM)$/,
    cause: () => ' refuses the login.',
    todo: 'Correct the user and the password in journal.url, and its parameter sasl.',
  },
  {
    signs: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    cause: () => ': the certificate of the broker names another host.',
    todo: 'Use the host names of the certificate in journal.url and in advertised.listeners of the brokers.',
  },
  {
    signs: /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/,
    cause: () => ': the certificate of the broker is not valid now.',
    todo: 'Renew it, or look at the clock of this machine.',
  },
  {
    signs: /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_\w+)$/,
    cause: () => ': the certificate of the broker comes from an authority that is not trusted.',
    todo: 'Name a file with the certificate of that authority in NODE_EXTRA_CA_CERTS, and start again.',
  },
  {
    signs: /^(?:PLT_KFK_AUTHENTICATION|ECONNRESET|EPROTO|ERR_SSL_\w+)$/,
    cause: () => ' closes the connection.',
    todo: 'Look whether its port asks for TLS (tls=true in journal.url) or for a login, and whether it is up.',
  },
  {
    signs: /^UNKNOWN_TOPIC_(?:OR_PARTITION|ID)$/,
    cause: ({ topic }) => `: there is no topic ${topic}.`,
    todo: 'Make it with `tracejury kafka init`.',
  },
  {
    signs: /^(?:TOPIC|GROUP|CLUSTER)_AUTHORIZATION_FAILED$/,
    cause: () => ' does not permit it.',
    todo: 'Permit the user to read and write the topic, and to read the group.',
  },
  {
    signs: /^(?:MESSAGE_TOO_LARGE|RECORD_LIST_TOO_LARGE)$/,
    cause: () => ' takes no record of this size.',
    todo: 'Raise max.message.bytes of the topic above limits.inflated_bytes.',
  },
  {
    signs: /^NOT_ENOUGH_REPLICAS(?:_AFTER_APPEND)?$/,
    cause: () => ' has too few brokers for the topic.',
    todo: 'Start the brokers that are missing: min.insync.replicas of the topic is the number that must have each record.',
  },
  {
    signs: /^(?:LEADER_NOT_AVAILABLE|NOT_LEADER_OR_FOLLOWER)$/,
    cause: () => ' has no leader for a partition of the topic.',
    todo: 'Start the broker that has it. Another broker leads it after some seconds when the topic has several copies.',
  },
];

const silent: Row = {
  signs: /^/,
  cause: () => ' does not answer.',
  todo: 'Look at the broker, at the network, and whether the port asks for TLS or for a login; the service goes on trying.',
};

/** Cause and remedy, without secrets. */
export function kafkaFault(error: unknown, rest: string, address: KafkaAddress): KafkaFault {
  const signs = signsOf(error);
  const { cause, todo } = rows.find((row) => signs.some((sign) => row.signs.test(sign))) ?? silent;
  return { cause: `${kafkaName(rest)}${cause(address)}`, todo };
}

/** The answer of a broker about such a partition. */
export function noLeader(): Error {
  return Object.assign(new Error('a partition has no leader'), { apiId: 'LEADER_NOT_AVAILABLE' });
}

/** Codes and names of an error and of what caused it. */
export function signsOf(error: unknown, depth = 0): readonly string[] {
  if (typeof error !== 'object' || error === null || depth > causesMax) return [];
  const own = ['code', 'apiId'].flatMap((name) => {
    const sign: unknown = Reflect.get(error, name);
    return typeof sign === 'string' ? [sign] : [];
  });
  // The client reports it only in words.
  const unknownTopic = error instanceof Error && error.message.startsWith('Unknown topic') ? ['UNKNOWN_TOPIC_OR_PARTITION'] : [];
  const inner: readonly unknown[] = [
    Reflect.get(error, 'cause'),
    ...(error instanceof AggregateError ? (error.errors as readonly unknown[]).slice(0, errorsMax) : []),
  ];
  return [...own, ...unknownTopic, ...inner.flatMap((one) => signsOf(one, depth + 1))];
}

const causesMax = 8;
const errorsMax = 20;
