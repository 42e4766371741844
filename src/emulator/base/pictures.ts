import { createHash } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";
import type { Download } from "../../binary/download.ts";

/** A colour, `0xRRGGBB`. */
type Colour = number;

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/** Encodes a picture of 8-bit true colour as PNG. `rows` has three bytes for each pixel, and each row begins with its filter type: 0, no filter. */
function encodePng(width: number, height: number, rows: Uint8Array): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8); // 8 bits, true colour, compression method 0, filter method 0, no interlace
  const parts = [
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows, { level: 1 })),
    chunk("IEND", Buffer.alloc(0)),
  ];
  return new Uint8Array(Buffer.concat(parts));
}

/** The colours and the pattern of a print. A render derives them from its image. */
interface Print {
  readonly background: Colour;
  readonly shades: readonly [Colour, Colour, Colour];
  /** The width of a stripe as a fraction of the picture's width. */
  readonly stripe: number;
  /** The slope of the stripes. */
  readonly slope: number;
}

const rim: Colour = 0x1f2328;
const camera: Colour = 0x0d0f12;
const lens: Colour = 0x4a5568;

const colourOf = (bytes: Uint8Array, at: number): Colour =>
  ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);

/** The colour mixed with as much white. */
const pale = (colour: Colour): Colour => ((colour >> 1) & 0x7f7f7f) + 0x808080;

function printOf(name: string): Print {
  const bytes = createHash("sha256").update(name).digest();
  return {
    background: pale(pale(colourOf(bytes, 0))),
    shades: [colourOf(bytes, 3), colourOf(bytes, 6), colourOf(bytes, 9)],
    stripe: 0.05 + (bytes[12] ?? 0) / 2048,
    slope: ((bytes[13] ?? 0) - 128) / 128,
  };
}

/** The main colour of the picture of a name. The thumbhash shows it. */
export const mainColour = (name: string): Colour => printOf(name).shades[0];

/** The distance from a point inside a rounded rectangle to its edge, in pixels. It is negative outside. */
function depth(x: number, y: number, left: number, top: number, right: number, bottom: number, radius: number): number {
  const dx = Math.max(left + radius - x, x - right + radius, 0);
  const dy = Math.max(top + radius - y, y - bottom + radius, 0);
  if (dx > 0 && dy > 0) return radius - Math.hypot(dx, dy);
  return Math.min(x - left, right - x, y - top, bottom - y);
}

/** What differs between products. Lengths are tenths of the width of the case. */
interface ProductShape {
  readonly rim: number;
  readonly corner: number;
  /** The camera from its left and upper edge to its right and lower one. Undefined for a screen protector. */
  readonly camera: readonly [left: number, top: number, right: number, bottom: number] | undefined;
  readonly lenses: readonly (readonly [x: number, y: number])[];
  /** Where the strap of a wallet lies. */
  readonly strap?: readonly [top: number, bottom: number];
}

const square = [1, 1, 5, 5] as const;
const diagonal = [
  [2.2, 2.2],
  [3.8, 3.8],
] as const;

/** The shape of a product, by the words of its name. */
function shapeOf(product: string): ProductShape {
  if (/protector/i.test(product)) return { rim: 0.15, corner: 1, camera: undefined, lenses: [] };
  const rim = /tough/i.test(product) ? 0.8 : 0.3;
  const corner = /tough/i.test(product) ? 2.2 : 1.5;
  const strap = /wallet/i.test(product) ? ([9.5, 11] as const) : undefined;
  const body = { rim, corner, ...(strap && { strap }) };
  if (/pro\b/i.test(product))
    return {
      ...body,
      camera: square,
      lenses: [
        [2.2, 2.2],
        [2.2, 3.8],
        [3.8, 3],
      ],
    };
  if (/galaxy/i.test(product))
    return {
      ...body,
      camera: [1, 1, 2.8, 6.4],
      lenses: [
        [1.9, 2],
        [1.9, 3.7],
        [1.9, 5.4],
      ],
    };
  if (/iphone 1[5-9]/i.test(product))
    return {
      ...body,
      camera: [1, 1, 3, 5],
      lenses: [
        [2, 2.1],
        [2, 3.9],
      ],
    };
  return { ...body, camera: square, lenses: diagonal };
}

/** The distance from a point to the edge of the camera, in tenths of the case's width. It is negative outside. */
function cameraEdge({ camera: place }: ProductShape, column: number, row: number): number {
  if (place === undefined || row > place[3] || column > place[2]) return -1;
  return depth(column, row, place[0], place[1], place[2], place[3], 0.9);
}

/** What a pixel of a product shows. */
const zones = { background: 0, print: 1, rim: 2, camera: 3, lens: 4 } as const;

/** The zone of each pixel of a product's picture. */
function drawZones(product: string, width: number, height: number): Uint8Array {
  const shape = shapeOf(product);
  const caseHeight = Math.min(height * 0.86, width * 1.6);
  const caseWidth = caseHeight / 2;
  const left = (width - caseWidth) / 2;
  const top = (height - caseHeight) / 2;
  const unit = caseWidth / 10;

  const zoneAt = (x: number, y: number): number => {
    const inside = depth(x, y, left, top, left + caseWidth, top + caseHeight, unit * shape.corner);
    if (inside < 0) return zones.background;
    if (inside < unit * shape.rim) return zones.rim;
    const column = (x - left) / unit;
    const row = (y - top) / unit;
    if (cameraEdge(shape, column, row) >= 0) {
      const isLens = shape.lenses.some(([at, down]) => Math.hypot(column - at, row - down) < 0.8);
      return isLens ? zones.lens : zones.camera;
    }
    return shape.strap !== undefined && row > shape.strap[0] && row < shape.strap[1] ? zones.rim : zones.print;
  };
  return Uint8Array.from({ length: width * height }, (_, at) => zoneAt(at % width, Math.floor(at / width)));
}

/** The zones of the latest products: those of one product are the same for every print. */
const drawnZones = new Map<string, Uint8Array>();
const maxZones = 32;

function zonesOf(product: string, width: number, height: number): Uint8Array {
  const key = `${width}x${height}/${product}`;
  const known = drawnZones.get(key) ?? drawZones(product, width, height);
  if (!drawnZones.has(key) && drawnZones.size >= maxZones) drawnZones.clear();
  drawnZones.set(key, known);
  return known;
}

/**
 * Draws the back of a phone case as PNG. The print's colours derive from `name`, so the same name gives the same bytes; the shape is that of
 * the product.
 *
 * Emulated renders, product pictures and sample images use it.
 */
function drawPhoneCase(name: string, width: number, height: number, product = ""): Uint8Array<ArrayBuffer> {
  const print = printOf(name);
  const zoneOf = zonesOf(product, width, height);
  const colours = [print.background, 0, rim, camera, lens];
  const stripe = print.stripe * width;
  const stride = 1 + width * 3;
  const rows = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    let at = y * stride + 1;
    for (let x = 0; x < width; x += 1) {
      const zone = zoneOf[y * width + x] ?? zones.background;
      const band = zone === zones.print ? Math.floor((x + y * print.slope) / stripe) % 3 : 0;
      const colour = (zone === zones.print ? print.shades[(band + 3) % 3] : colours[zone]) ?? 0;
      rows[at] = colour >> 16;
      rows[at + 1] = colour >> 8;
      rows[at + 2] = colour;
      at += 3;
    }
  }
  return encodePng(width, height, rows);
}

/** The number of pictures that are kept. The oldest is removed first. */
const capacity = 64;

const pictures = new Map<string, Uint8Array<ArrayBuffer>>();

/** Like {@link drawPhoneCase}, with a cache: repeated downloads of a picture do not draw it again. */
export function drawn(name: string, width: number, height: number, product = ""): Uint8Array<ArrayBuffer> {
  const key = `${width}x${height}/${name}/${product}`;
  const cached = pictures.get(key);
  if (cached !== undefined) return cached;
  const picture = drawPhoneCase(name, width, height, product);
  pictures.set(key, picture);
  for (const oldest of pictures.keys()) {
    if (pictures.size <= capacity) break;
    pictures.delete(oldest);
  }
  return picture;
}

/**
 * Makes a valid PNG of 60 by 80 pixels to upload in a test. Another name gives another picture.
 *
 * @example
 * await partner.images.upload(sampleImage("a design"));
 */
export const sampleImage = (name = "sample"): Awaited<ReturnType<Download["bytes"]>> => drawPhoneCase(name, 60, 80);

/** The number of luminance waves in a ThumbHash of a given shape. */
function waves(across: number, down: number): number {
  let count = 0;
  for (let cy = 0; cy < down; cy += 1) {
    for (let cx = cy === 0 ? 1 : 0; cx * down < across * (down - cy); cx += 1) count += 1;
  }
  return count;
}

/** The waves of the two colour channels together: five each. */
const colourWaves = 10;

/** The base64 ThumbHash of a picture of one colour. It is the placeholder of a picture with that main colour. */
export function thumbhashOf(colour: Colour, width: number, height: number): string {
  const [red, green, blue] = [16, 8, 0].map((shift) => ((colour >> shift) & 0xff) / 255) as [number, number, number];
  const luminance = Math.round(((red + green + blue) / 3) * 63);
  const yellowness = Math.round(31.5 + 31.5 * ((red + green) / 2 - blue));
  const redness = Math.round(31.5 + 31.5 * (red - green));

  const landscape = width > height;
  const shorter = Math.max(1, Math.round((7 * Math.min(width, height)) / Math.max(width, height)));
  const header = luminance | (yellowness << 6) | (redness << 12);
  const shape = shorter | (landscape ? 1 << 15 : 0);

  const [across, down] = landscape ? [7, Math.max(3, shorter)] : [Math.max(3, shorter), 7];
  // The scales in the header are 0, so every wave has the amplitude 0.
  const body = Buffer.alloc(Math.ceil((waves(across, down) + colourWaves) / 2), 0x77);
  const head = [header & 0xff, (header >> 8) & 0xff, header >> 16, shape & 0xff, shape >> 8];
  return Buffer.concat([Buffer.from(head), body]).toString("base64");
}
