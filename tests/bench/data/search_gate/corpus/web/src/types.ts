export interface Stop {
  label: string;
  latitude: number;
  longitude: number;
}

export interface Tour {
  driver: string;
  stops: Stop[];
}
