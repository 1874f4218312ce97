/** Pages of rows with bodies, bounded while they are read: a body is compressed, and a thousand of them may be a gigabyte of text. */
import { briefText } from '../compression.ts';

/** Characters of the bodies of one page. A page has at least one row. */
export const pageCharsMax = 16 * 1024 * 1024;
const rowsPerRead = 50;

export interface BodyPage<Row> {
  readonly rows: readonly { readonly row: Row; readonly text: string }[];
  /** Place of the last row; `undefined` on the last page. */
  readonly next: number | undefined;
}

/** `read` gives the next rows behind a place, in their order. */
export async function bodyPage<Row extends { readonly body: Uint8Array }>(
  { limit, after }: { readonly limit: number; readonly after?: number | undefined },
  {
    read,
    placeOf,
  }: { readonly read: (after: number | undefined, limit: number) => Promise<readonly Row[]>; readonly placeOf: (row: Row) => number },
): Promise<BodyPage<Row>> {
  const rows: { readonly row: Row; readonly text: string }[] = [];
  let chars = 0;
  let place = after;
  for (;;) {
    const wanted = Math.min(rowsPerRead, limit - rows.length + 1);
    const some = await read(place, wanted);
    for (const row of some) {
      if (rows.length === limit) return { rows, next: place };
      const text = briefText(row.body);
      if (rows.length > 0 && chars + text.length > pageCharsMax) return { rows, next: place };
      rows.push({ row, text });
      chars += text.length;
      place = placeOf(row);
    }
    if (some.length < wanted) return { rows, next: undefined };
  }
}
