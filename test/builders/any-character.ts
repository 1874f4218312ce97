/** Any character, without halves of pairs. They are those of fast-check's unit `binary`, which takes a second to list all of them. */
import fc from 'fast-check';

const [firstHalf, halves] = [0xd800, 0x800];

export const anyCharacter = fc
  .integer({ min: 0, max: 0x10_ffff - halves })
  .map((number) => String.fromCodePoint(number < firstHalf ? number : number + halves));
