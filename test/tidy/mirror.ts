/** Tests mirror the product: the test of a unit has the same path below `test`. Tests of several units together are above them. */
import { posix } from 'node:path';
import { isProduct, type Rule } from './source.ts';

const testFile = /^test\/(.+?)(?:\.long|\.alone)?\.test\.ts$/;

export const testsStandWhereTheirUnitStands: Rule = (files) => {
  const units = files.filter(isProduct).map(({ path }) => path.replace(/^src\//, '').replace(/\.tsx?$/, ''));
  return files.flatMap(({ path }) => {
    const tested = testFile.exec(path)?.[1];
    if (tested === undefined) return [];
    const [family = ''] = tested.split('/', 1);
    const ofItsName = units.filter((unit) => unit.startsWith(`${family}/`) && posix.basename(unit) === posix.basename(tested));
    return ofItsName.length === 0 || ofItsName.includes(tested) ? [] : [`${path}: the unit stands at ${ofItsName.join(' or ')}`];
  });
};
