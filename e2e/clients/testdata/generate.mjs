// Makes plants.d.ts of the description, with an int64 as a bigint.
import { writeFileSync } from 'node:fs'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'

const types = await openapiTS(new URL(process.env.DESCRIPTION_URL), {
  transform: schema =>
    schema.format === 'int64' ? ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword) : undefined,
})
writeFileSync('plants.d.ts', astToString(types))
