// Apple's `CoreLocation` also imports Foundation, Dispatch and Observation, and sources rely on it.
@_exported public import Foundation
@_exported public import Observation
