import { Tour, Stop } from "./types";

export class TourMap {
  private markers: Stop[] = [];

  constructor(private element: HTMLElement) {}

  drawRoute(tour: Tour): void {
    this.markers = tour.stops;
    this.element.innerHTML = tour.stops.map((stop) => stop.label).join(" - ");
  }

  zoomToFit(): [number, number] {
    const latitudes = this.markers.map((stop) => stop.latitude);
    return [Math.min(...latitudes), Math.max(...latitudes)];
  }

  clearMarkers(): void {
    this.markers = [];
  }
}
