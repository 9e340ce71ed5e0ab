import { createPlant, ErrorEnum, type NewPlant } from './sdk/index.js'
import { client } from './sdk/client.gen.js'

client.setConfig({
  baseUrl: process.env.PLANTS_URL!,
  auth: process.env.TOKEN!,
  // The usual serializer makes a string of a bigint, and the service takes no string.
  bodySerializer: body => {
    const { id, ...plant } = body as NewPlant
    return `{"id":${id},${JSON.stringify(plant).slice(1)}`
  },
})

async function create(plant: NewPlant) {
  const { data, error, response } = await createPlant({ body: plant })
  switch (error?.error) {
    case undefined:
      console.log(response?.status, data?.name, data?.tag)
      break
    case ErrorEnum.CONFLICT: // 409
    case ErrorEnum.UNPROCESSABLE_CONTENT: // 422
      console.log(response?.status, error?.error, error?.message)
      break
    default:
      throw new Error(error?.message)
  }
}

await create({ id: 9007199254740993n, name: 'Welwitschia mirabilis', tag: 'long-lived' })
await create({ id: 9007199254740993n, name: 'Welwitschia mirabilis', tag: 'long-lived' })
await create({ id: -9223372036854775808n, name: 'Wolffia arrhiza' })
await create({ id: 9223372036854775808n, name: 'too great' })
// @ts-expect-error: an id that could have been rounded is refused by the compiler.
await create({ id: 1, name: 'a number is taken all the same' })
