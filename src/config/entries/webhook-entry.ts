/** What an entry of `export` for a webhook gives, and what can be wrong with it. */
import { isIP } from 'node:net';
import { isPublicAddress } from '../../exporters/delivery/ssrf-guard.ts';
import { secretBytes } from '../../exporters/webhook/webhook.ts';
import { verdictOutcomes, type WebhookSettings } from '../../exporters/settings.ts';
import { member, type JsonObject } from '../../model/json.ts';
import type { Finding, Path } from '../diagnostic.ts';
import { didYouMean } from '../../model/did-you-mean.ts';
import { listAt, objectAt } from '../partial-value.ts';
import { webhookDefaults } from '../sections/export.ts';

/** Keys of an entry that no other exporter has. */
export const webhookKeys = ['secret', 'body', 'only', 'per_minute', 'private_addresses', 'link'] as const;

const secretBytesMin = 24;

export function webhookSettings(written: JsonObject): WebhookSettings {
  const [only, secret, link, perMinute] = [
    objectAt(written, 'only'),
    member(written, 'secret'),
    member(written, 'link'),
    member(written, 'per_minute'),
  ];
  const verdicts = member(only, 'verdicts') === undefined ? webhookDefaults.verdicts : texts(only, 'verdicts');
  return {
    url: String(member(written, 'endpoint')),
    ...(typeof secret === 'string' ? { secret } : {}),
    body: member(written, 'body') === 'slack' ? 'slack' : 'json',
    ...(typeof link === 'string' ? { link } : {}),
    only: {
      verdicts: verdictOutcomes.filter((one) => verdicts.includes(one)),
      labels: texts(only, 'labels'),
      evaluators: texts(only, 'evaluators'),
      agents: texts(only, 'agents'),
    },
    perMinute: typeof perMinute === 'number' ? perMinute : webhookDefaults.per_minute,
    privateAddresses: member(written, 'private_addresses') === true,
  };
}

export function webhookFindings(entry: JsonObject, path: Path, evaluators: readonly string[]): readonly Finding[] {
  const endpoint = member(entry, 'endpoint');
  if (typeof endpoint !== 'string') return [{ path, at: 'value', problem: 'lacks endpoint', todo: 'Add the URL that the messages go to.' }];
  const host = URL.parse(endpoint)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  const isInside = host === 'localhost' || host.endsWith('.localhost') || (isIP(host) !== 0 && !isPublicAddress(host));
  return [
    ...(isInside && member(entry, 'private_addresses') !== true
      ? [
          {
            path: [...path, 'endpoint'],
            at: 'value',
            problem: 'is inside, on this machine or in a network of one’s own',
            todo: 'Name an address outside, or say private_addresses: true.',
          } as const,
        ]
      : []),
    ...secretFindings(entry, path),
    ...nameFindings(entry, path, evaluators),
  ];
}

function secretFindings(entry: JsonObject, path: Path): readonly Finding[] {
  const secret = member(entry, 'secret');
  if (secret === undefined)
    return member(entry, 'body') === 'slack'
      ? []
      : [
          {
            path,
            at: 'value',
            problem: 'lacks secret',
            todo: 'Add one: by the signature a receiver knows that a message is ours. Only body: slack can do without.',
          },
        ];
  if (typeof secret !== 'string' || secretBytes(secret).length >= secretBytesMin) return [];
  return [
    {
      path: [...path, 'secret'],
      at: 'value',
      problem: `is shorter than ${secretBytesMin} bytes`,
      todo: 'Make one by chance: openssl rand -base64 32.',
    },
  ];
}

/** A name that no evaluator has would never match. */
function nameFindings(entry: JsonObject, path: Path, known: readonly string[]): readonly Finding[] {
  return texts(objectAt(entry, 'only'), 'evaluators').flatMap((name, index): readonly Finding[] => {
    if (known.includes(name)) return [];
    const guess = didYouMean(name, known);
    return [
      {
        path: [...path, 'only', 'evaluators', index],
        at: 'value',
        problem: `no evaluator is named ${name}`,
        todo: guess === undefined ? `Write one of ${known.join(', ')}.` : `Did you mean ${guess}?`,
      },
    ];
  });
}

function texts(from: JsonObject, key: string): readonly string[] {
  return listAt(from, key).filter((one) => typeof one === 'string');
}
