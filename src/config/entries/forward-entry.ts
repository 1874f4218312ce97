/** The entry `forward` of `export`: what must fit the rest of the file, and how it is read. */
import type { ForwardSettings } from '../../exporters/forward/forwarder.ts';
import { member, type JsonObject } from '../../model/json.ts';
import { quantityOf } from '../../model/quantities.ts';
import type { Finding } from '../diagnostic.ts';
import { listAt } from '../partial-value.ts';
import { forwardDefaults } from '../sections/export.ts';

interface Entry {
  /** The whole configuration. */
  readonly value: JsonObject;
  /** All entries of `export`, and the place of this one among them. */
  readonly list: readonly JsonObject[];
  readonly item: JsonObject;
  readonly index: number;
}

export function forwardFindings({ value, list, item, index }: Entry): readonly Finding[] {
  const path = ['export', index];
  return [
    ...(list.findIndex((other) => member(other, 'to') === 'forward') < index
      ? [
          {
            path,
            at: 'value',
            problem: 'is a second forward',
            todo: 'Keep one: a Collector behind it can send to several backends.',
          } as const,
        ]
      : []),
    ...(member(item, 'protocol') === 'http/json'
      ? [
          {
            path: [...path, 'protocol'],
            at: 'value',
            problem: 'cannot be used with forward',
            todo: 'Leave it out: spans go on as the protobuf that they came as.',
          } as const,
        ]
      : []),
    ...(listAt(value, 'redact').length > 0
      ? [
          {
            path,
            at: 'value',
            problem: 'cannot be used with redact',
            todo: 'Leave one out: forward sends the very bytes that came, with everything that redact blots out. A Collector behind it can redact.',
          } as const,
        ]
      : []),
  ];
}

/** `place`: where spans go and with which headers, found as for every exporter of OTLP. */
export function forwardSettings(written: JsonObject, place: Pick<ForwardSettings, 'tracesEndpoint' | 'headers'>): ForwardSettings {
  return {
    ...place,
    protocol: member(written, 'protocol') === 'grpc' ? 'grpc' : 'http/protobuf',
    compression: member(written, 'compression') === 'gzip' ? 'gzip' : forwardDefaults.compression,
    holdMs: quantityOf('duration', member(written, 'hold') ?? forwardDefaults.hold) ?? 0,
  };
}
