/** The address of a topic: `kafka://user:password@host:9092,other:9092/topic?tls=true`. */
export interface KafkaAddress {
  /** `host:port` of brokers to ask first. */
  readonly brokers: readonly string[];
  readonly topic: string;
  /** The consumer group that the replicas form. */
  readonly group: string;
  readonly tls: boolean;
  readonly sasl: SaslLogin | undefined;
}

interface SaslLogin {
  readonly mechanism: SaslMechanism;
  readonly username: string;
  readonly password: string;
}

const mechanisms = { plain: 'PLAIN', 'scram-sha-256': 'SCRAM-SHA-256', 'scram-sha-512': 'SCRAM-SHA-512' } as const;
type SaslMechanism = (typeof mechanisms)[keyof typeof mechanisms];

const SHAPE = /^\/\/(?:([^@/?]*)@)?([^@/?]+)\/([\w.-]{1,249})(?:\?(.*))?$/s;
const BROKER = /^(?:[\w.-]+|\[[0-9a-f:]+\])(?::\d{1,5})?$/i;
const portUsual = 9092;
const groupUsual = 'tracejury';
const parameters: ReadonlySet<string> = new Set(['tls', 'sasl', 'group']);

/** `rest`: what stands behind `kafka:`. Undefined: no such address. */
export function kafkaAddress(rest: string): KafkaAddress | undefined {
  const [, login, hosts = '', topic = '', query = ''] = SHAPE.exec(rest) ?? [];
  const brokers = hosts.split(',');
  if (topic === '' || !brokers.every((broker) => BROKER.test(broker))) return undefined;
  const given = new URLSearchParams(query);
  if ([...given.keys()].some((name) => !parameters.has(name))) return undefined;
  const mechanism = Object.entries(mechanisms).find(([name]) => name === (given.get('sasl') ?? 'scram-sha-256'))?.[1];
  const [tls, group] = [given.get('tls') ?? 'false', given.get('group') ?? groupUsual];
  if (mechanism === undefined || (tls !== 'true' && tls !== 'false') || !/^[\w.-]{1,249}$/.test(group)) return undefined;
  const [username, password] = (login ?? '').split(':').map(decoded);
  if (username === undefined || (login !== undefined && (username === '' || password === undefined))) return undefined;
  return {
    brokers: brokers.map((broker) => (/:\d+$/.test(broker) ? broker : `${broker}:${portUsual}`)),
    topic,
    group,
    tls: tls === 'true',
    sasl: login === undefined || password === undefined ? undefined : { mechanism, username, password },
  };
}

/** The address shown to people, without the login and the parameters. */
export function kafkaName(rest: string): string {
  const address = kafkaAddress(rest);
  return address === undefined ? 'kafka:' : `kafka://${address.brokers.join(',')}/${address.topic}`;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
