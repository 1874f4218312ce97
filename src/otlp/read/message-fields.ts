/** The fields of the published OTLP messages by their names in JSON, in both spellings. */

/** How a value is written. A list: the names of an enumeration, by their numbers. A function: the fields of a message. */
export type Form = 'text' | 'hex' | 'base64' | 'bool' | 'double' | 'varint' | 'fixed32' | 'fixed64' | readonly string[] | (() => Fields);
export type Fields = ReadonlyMap<string, { readonly number: number; readonly form: Form }>;

function fieldsOf(fields: { readonly [name: string]: readonly [number: number, form: Form] }): Fields {
  const all = Object.entries(fields).map(([name, [number, form]]) => [name, { number, form }] as const);
  return new Map([...all, ...all.map(([name, field]) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), field] as const)]);
}

const kinds = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'].map((name) => `SPAN_KIND_${name}`);
const codes = ['UNSET', 'OK', 'ERROR'].map((name) => `STATUS_CODE_${name}`);
const severities = [
  'UNSPECIFIED',
  ...['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].flatMap((name) => ['', '2', '3', '4'].map((degree) => name + degree)),
].map((name) => `SEVERITY_NUMBER_${name}`);

export const anyValueFields: Fields = fieldsOf({
  stringValue: [1, 'text'],
  boolValue: [2, 'bool'],
  intValue: [3, 'varint'],
  doubleValue: [4, 'double'],
  arrayValue: [5, () => listFields],
  kvlistValue: [6, () => mapFields],
  bytesValue: [7, 'base64'],
});
const pairFields = fieldsOf({ key: [1, 'text'], value: [2, () => anyValueFields] });
const listFields = fieldsOf({ values: [1, () => anyValueFields] });
const mapFields = fieldsOf({ values: [1, () => pairFields] });
const dropped = 'varint';
const entityFields = fieldsOf({ schemaUrl: [1, 'text'], type: [2, 'text'], idKeys: [3, 'text'], descriptionKeys: [4, 'text'] });
const resourceFields = fieldsOf({
  attributes: [1, () => pairFields],
  droppedAttributesCount: [2, dropped],
  entityRefs: [3, () => entityFields],
});
const scopeFields = fieldsOf({
  name: [1, 'text'],
  version: [2, 'text'],
  attributes: [3, () => pairFields],
  droppedAttributesCount: [4, dropped],
});

/** Of a block of a resource, and of one of a scope, all but what it lists. */
export const resourceBlockFields: Fields = fieldsOf({ resource: [1, () => resourceFields], schemaUrl: [3, 'text'] });
export const scopeBlockFields: Fields = fieldsOf({ scope: [1, () => scopeFields], schemaUrl: [3, 'text'] });

const eventFields = fieldsOf({
  timeUnixNano: [1, 'fixed64'],
  name: [2, 'text'],
  attributes: [3, () => pairFields],
  droppedAttributesCount: [4, dropped],
});
const linkFields = fieldsOf({
  traceId: [1, 'hex'],
  spanId: [2, 'hex'],
  traceState: [3, 'text'],
  attributes: [4, () => pairFields],
  droppedAttributesCount: [5, dropped],
  flags: [6, 'fixed32'],
});
const statusFields = fieldsOf({ message: [2, 'text'], code: [3, codes] });

export const spanFields: Fields = fieldsOf({
  traceId: [1, 'hex'],
  spanId: [2, 'hex'],
  traceState: [3, 'text'],
  parentSpanId: [4, 'hex'],
  name: [5, 'text'],
  kind: [6, kinds],
  startTimeUnixNano: [7, 'fixed64'],
  endTimeUnixNano: [8, 'fixed64'],
  attributes: [9, () => pairFields],
  droppedAttributesCount: [10, dropped],
  events: [11, () => eventFields],
  droppedEventsCount: [12, dropped],
  links: [13, () => linkFields],
  droppedLinksCount: [14, dropped],
  status: [15, () => statusFields],
  flags: [16, 'fixed32'],
});

export const logFields: Fields = fieldsOf({
  timeUnixNano: [1, 'fixed64'],
  severityNumber: [2, severities],
  severityText: [3, 'text'],
  body: [5, () => anyValueFields],
  attributes: [6, () => pairFields],
  droppedAttributesCount: [7, dropped],
  flags: [8, 'fixed32'],
  traceId: [9, 'hex'],
  spanId: [10, 'hex'],
  observedTimeUnixNano: [11, 'fixed64'],
  eventName: [12, 'text'],
});
