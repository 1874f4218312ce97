/** Spans in a store without a file: pieces by trace, as many as fit. */
import type { Tenant, TraceId } from '../model/ids.ts';
import { piecesPerTraceMax, type SpanPiece } from '../model/store/store.ts';
import type { Micros } from '../model/timestamp.ts';

const traceIdChars = 32;

export interface SpansInMemory {
  write(pieces: readonly SpanPiece[]): void;
  of(tenant: Tenant, traceId: TraceId): readonly SpanPiece[];
  /** True: they are kept with those of another trace. */
  isJoined(tenant: Tenant, traceId: TraceId): boolean;
  /** Lets go of so many pieces at most that are older; gives how many. */
  expire(before: Micros, piecesMax: number): number;
  /** Gives the number of pieces that went. */
  forget(tenant: Tenant, traceId: TraceId): number;
  /** Of all pieces. */
  bytes(): number;
}

export function spansInMemory(bytesMax: number): SpansInMemory {
  /** By trace; the one that was written first comes first. */
  const pieces = new Map<string, SpanPiece[]>();
  const wholes = new Map<string, TraceId>();
  let bytes = 0;

  function keyOf(tenant: Tenant, traceId: TraceId): string {
    return `${wholes.get(`${traceId}${tenant}`) ?? traceId}${tenant}`;
  }

  function dropped(key: string, gone: (piece: SpanPiece) => boolean): number {
    const [own, left] = [pieces.get(key) ?? [], [] as SpanPiece[]];
    for (const piece of own) {
      if (!gone(piece)) left.push(piece);
      else {
        bytes -= piece.body.length;
        for (const part of piece.joined) wholes.delete(`${part}${piece.tenant}`);
      }
    }
    if (left.length > 0) pieces.set(key, left);
    else pieces.delete(key);
    return own.length - left.length;
  }

  return {
    write(more) {
      for (const piece of more) {
        for (const part of piece.joined) wholes.set(`${part}${piece.tenant}`, piece.traceId);
        const key = `${piece.traceId}${piece.tenant}`;
        const own = pieces.get(key) ?? [];
        if (own.length >= piecesPerTraceMax || own.some(({ digest }) => digest === piece.digest)) continue;
        pieces.set(key, [...own, piece]);
        bytes += piece.body.length;
      }
      for (const key of pieces.keys()) {
        if (bytes <= bytesMax) return;
        dropped(key, () => true);
      }
    },
    of(tenant, traceId) {
      const whole = wholes.get(`${traceId}${tenant}`) ?? traceId;
      const joined = [...wholes]
        .filter(([key, id]) => id === whole && key.slice(traceIdChars) === tenant)
        .map(([key]) => key.slice(0, traceIdChars) as TraceId)
        .sort();
      return (pieces.get(keyOf(tenant, traceId)) ?? []).map((piece) => ({ ...piece, joined }));
    },
    isJoined: (tenant, traceId) => wholes.has(`${traceId}${tenant}`),
    expire(before, piecesMax) {
      let gone = 0;
      for (const key of pieces.keys()) gone += dropped(key, ({ startedAt }) => startedAt < before && gone < piecesMax);
      return gone;
    },
    forget: (tenant, traceId) => dropped(keyOf(tenant, traceId), () => true),
    bytes: () => bytes,
  };
}
