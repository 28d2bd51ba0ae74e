import { s } from '../../strings/en';

/** An image that goes with a question. */
export interface Picture {
  /** `data:image/png;base64,…` */
  url: string;
  name: string;
  bytes: number;
}

/** What every API that takes images takes. */
export const TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];

/** The gateway takes 20 MB a question, and an image grows by a third on its way. */
export const MAX_BYTES = 14_000_000;
export const MAX_PICTURES = 8;

/** Reads the images among some files; those that cannot go, with why, in words. */
export async function take(
  files: readonly File[],
  had: readonly Picture[],
): Promise<{ pictures: Picture[]; refused: string[] }> {
  const pictures = [...had];
  const refused: string[] = [];
  for (const file of files) {
    const bytes = pictures.reduce((sum, it) => sum + it.bytes, file.size);
    if (!TYPES.includes(file.type)) refused.push(s.ask.notAnImage(file.name));
    else if (pictures.length >= MAX_PICTURES) refused.push(s.ask.tooMany(file.name, MAX_PICTURES));
    else if (bytes > MAX_BYTES)
      refused.push(s.ask.tooLarge(file.name, megabytes(file.size), megabytes(MAX_BYTES)));
    else {
      const url = await read(file).catch(() => '');
      if (url === '') refused.push(s.ask.unreadable(file.name));
      else if (!pictures.some((it) => it.url === url))
        pictures.push({ url, name: file.name, bytes: file.size });
    }
  }
  return { pictures, refused };
}

/** `3.2 MB` */
function megabytes(bytes: number): string {
  return `${Number((bytes / 1e6).toFixed(1))} MB`;
}

function read(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error(file.name));
    reader.readAsDataURL(file);
  });
}
