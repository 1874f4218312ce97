/** Log records of ours as protobuf. The field numbers are those of `opentelemetry/proto/logs/v1/logs.proto`. */
import { protobufWriter, type ProtobufWriter } from './protobuf-writer.ts';
import { recordFlags, severities, type SentRecord } from './outgoing-log.ts';
import { scopeName, type OtlpWriter } from './outgoing-span.ts';
import { writeAttributes } from './write-attributes-protobuf.ts';

export function protobufRecords(): OtlpWriter<SentRecord> {
  const out = protobufWriter();
  return {
    contentType: 'application/x-protobuf',
    write(...records) {
      out.restart();
      for (const record of records) out.message(1, () => writeBlock(out, record));
      return out.result();
    },
    // A field that repeats may stand in several pieces.
    request: (parts) => Buffer.concat(parts),
  };
}

/** One record with its resource and scope. */
function writeBlock(to: ProtobufWriter, record: SentRecord): void {
  to.message(1, () => writeAttributes(to, 1, record.resource));
  to.message(2, () => {
    to.message(1, () => to.text(1, scopeName));
    to.message(2, () => writeRecord(to, record));
  });
}

function writeRecord(to: ProtobufWriter, { traceId, spanId, timeUnixNano, severity, eventName, body, attributes }: SentRecord): void {
  to.fixed64(1, timeUnixNano);
  to.varint(2, severities[severity]);
  to.text(3, severity);
  to.message(5, () => to.text(1, body));
  writeAttributes(to, 6, attributes);
  to.fixed32(8, recordFlags);
  to.hex(9, traceId);
  to.hex(10, spanId);
  to.fixed64(11, timeUnixNano);
  to.text(12, eventName);
}
