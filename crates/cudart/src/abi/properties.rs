//! `cudaDeviceProp`, which CUDA 13 lays out differently from CUDA 12.
//!
//! One table says where each field lies in either, and what the simulated GPU has there. The table exceeds the usual
//! length of a file's parts because the structure does.
//!
//! Reference: CUDA Runtime API 12.9 and 13.0, `driver_types.h`.

use crate::runtime::spec;

use Value::{Bytes, Int, Ints, Size, Text};

/// Which layout an application was compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// `cudaGetDeviceProperties` of libcudart.so.12: that of CUDA 11, a beginning of CUDA 12's.
    Cuda11,
    /// `cudaGetDeviceProperties_v2`, what CUDA 12 makes of `cudaGetDeviceProperties`.
    Cuda12,
    /// `cudaGetDeviceProperties` of libcudart.so.13.
    Cuda13,
}

/// What a field holds.
#[derive(Debug, Clone, Copy)]
enum Value {
    Int(i32),
    Ints(&'static [i32]),
    Size(u64),
    Bytes(&'static [u8]),
    Text(&'static str),
}

/// One field.
#[derive(Debug, Clone, Copy)]
struct Row {
    #[cfg_attr(not(test), expect(dead_code, reason = "for the comparison with the headers"))]
    name: &'static str,
    in_12: Option<usize>,
    in_13: Option<usize>,
    value: Value,
}

const fn row(name: &'static str, in_12: Option<usize>, in_13: Option<usize>, value: Value) -> Row {
    Row { name, in_12, in_13, value }
}

const ROWS: [Row; 100] = [
    row("name", Some(0), Some(0), Text(spec::NAME)),
    row("uuid", Some(256), Some(256), Bytes(spec::UUID)),
    row("luid", Some(272), Some(272), Bytes(&[0; 8])),
    row("luidDeviceNodeMask", Some(280), Some(280), Int(0)),
    row("totalGlobalMem", Some(288), Some(288), Size(spec::MEMORY_BYTES)),
    row("sharedMemPerBlock", Some(296), Some(296), Size(spec::SHARED_PER_BLOCK as u64)),
    row("regsPerBlock", Some(304), Some(304), Int(spec::REGISTERS_PER_BLOCK)),
    row("warpSize", Some(308), Some(308), Int(spec::WARP)),
    row("memPitch", Some(312), Some(312), Size(spec::MAX_PITCH as u64)),
    row("maxThreadsPerBlock", Some(320), Some(320), Int(spec::THREADS_PER_BLOCK)),
    row("maxThreadsDim", Some(324), Some(324), Ints(&spec::BLOCK)),
    row("maxGridSize", Some(336), Some(336), Ints(&spec::GRID)),
    row("clockRate", Some(348), None, Int(spec::CLOCK_KHZ)),
    row("totalConstMem", Some(352), Some(352), Size(spec::CONSTANT_BYTES as u64)),
    row("major", Some(360), Some(360), Int(spec::MAJOR)),
    row("minor", Some(364), Some(364), Int(spec::MINOR)),
    row("textureAlignment", Some(368), Some(368), Size(512)),
    row("texturePitchAlignment", Some(376), Some(376), Size(32)),
    row("deviceOverlap", Some(384), None, Int(1)),
    row("multiProcessorCount", Some(388), Some(384), Int(spec::MULTIPROCESSORS)),
    row("kernelExecTimeoutEnabled", Some(392), None, Int(0)),
    row("integrated", Some(396), Some(388), Int(0)),
    row("canMapHostMemory", Some(400), Some(392), Int(1)),
    row("computeMode", Some(404), None, Int(0)),
    row("maxTexture1D", Some(408), Some(396), Int(131_072)),
    row("maxTexture1DMipmap", Some(412), Some(400), Int(32_768)),
    row("maxTexture1DLinear", Some(416), None, Int(268_435_456)),
    row("maxTexture2D", Some(420), Some(404), Ints(&[131_072, 65_536])),
    row("maxTexture2DMipmap", Some(428), Some(412), Ints(&[32_768, 32_768])),
    row("maxTexture2DLinear", Some(436), Some(420), Ints(&[131_072, 65_000, 2_097_120])),
    row("maxTexture2DGather", Some(448), Some(432), Ints(&[32_768, 32_768])),
    row("maxTexture3D", Some(456), Some(440), Ints(&[16_384, 16_384, 16_384])),
    row("maxTexture3DAlt", Some(468), Some(452), Ints(&[8192, 8192, 32_768])),
    row("maxTextureCubemap", Some(480), Some(464), Int(32_768)),
    row("maxTexture1DLayered", Some(484), Some(468), Ints(&[32_768, 2048])),
    row("maxTexture2DLayered", Some(492), Some(476), Ints(&[32_768, 32_768, 2048])),
    row("maxTextureCubemapLayered", Some(504), Some(488), Ints(&[32_768, 2046])),
    row("maxSurface1D", Some(512), Some(496), Int(32_768)),
    row("maxSurface2D", Some(516), Some(500), Ints(&[131_072, 65_536])),
    row("maxSurface3D", Some(524), Some(508), Ints(&[16_384, 16_384, 16_384])),
    row("maxSurface1DLayered", Some(536), Some(520), Ints(&[32_768, 2048])),
    row("maxSurface2DLayered", Some(544), Some(528), Ints(&[32_768, 32_768, 2048])),
    row("maxSurfaceCubemap", Some(556), Some(540), Int(32_768)),
    row("maxSurfaceCubemapLayered", Some(560), Some(544), Ints(&[32_768, 2046])),
    row("surfaceAlignment", Some(568), Some(552), Size(512)),
    row("concurrentKernels", Some(576), Some(560), Int(1)),
    row("ECCEnabled", Some(580), Some(564), Int(0)),
    row("pciBusID", Some(584), Some(568), Int(spec::PCI_BUS)),
    row("pciDeviceID", Some(588), Some(572), Int(0)),
    row("pciDomainID", Some(592), Some(576), Int(0)),
    row("tccDriver", Some(596), Some(580), Int(0)),
    row("asyncEngineCount", Some(600), Some(584), Int(3)),
    row("unifiedAddressing", Some(604), Some(588), Int(1)),
    row("memoryClockRate", Some(608), None, Int(spec::MEMORY_CLOCK_KHZ)),
    row("memoryBusWidth", Some(612), Some(592), Int(spec::MEMORY_BUS_BITS)),
    row("l2CacheSize", Some(616), Some(596), Int(spec::L2_BYTES)),
    row("persistingL2CacheMaxSize", Some(620), Some(600), Int(0)),
    row("maxThreadsPerMultiProcessor", Some(624), Some(604), Int(spec::THREADS_PER_MULTIPROCESSOR)),
    row("streamPrioritiesSupported", Some(628), Some(608), Int(1)),
    row("globalL1CacheSupported", Some(632), Some(612), Int(1)),
    row("localL1CacheSupported", Some(636), Some(616), Int(1)),
    row("sharedMemPerMultiprocessor", Some(640), Some(624), Size(spec::SHARED_PER_MULTIPROCESSOR as u64)),
    row("regsPerMultiprocessor", Some(648), Some(632), Int(spec::REGISTERS_PER_MULTIPROCESSOR)),
    row("managedMemory", Some(652), Some(636), Int(1)),
    row("isMultiGpuBoard", Some(656), Some(640), Int(0)),
    row("multiGpuBoardGroupID", Some(660), Some(644), Int(0)),
    row("hostNativeAtomicSupported", Some(664), Some(648), Int(0)),
    row("singleToDoublePrecisionPerfRatio", Some(668), None, Int(2)),
    row("pageableMemoryAccess", Some(672), Some(652), Int(0)),
    row("concurrentManagedAccess", Some(676), Some(656), Int(1)),
    row("computePreemptionSupported", Some(680), Some(660), Int(1)),
    row("canUseHostPointerForRegisteredMem", Some(684), Some(664), Int(0)),
    row("cooperativeLaunch", Some(688), Some(668), Int(spec::COOPERATIVE)),
    row("cooperativeMultiDeviceLaunch", Some(692), None, Int(0)),
    row("sharedMemPerBlockOptin", Some(696), Some(672), Size(spec::SHARED_OPT_IN as u64)),
    row("pageableMemoryAccessUsesHostPageTables", Some(704), Some(680), Int(0)),
    row("directManagedMemAccessFromHost", Some(708), Some(684), Int(0)),
    row("maxBlocksPerMultiProcessor", Some(712), Some(688), Int(spec::BLOCKS_PER_MULTIPROCESSOR)),
    row("accessPolicyMaxWindowSize", Some(716), Some(692), Int(0)),
    row("reservedSharedMemPerBlock", Some(720), Some(696), Size(spec::SHARED_RESERVED as u64)),
    row("hostRegisterSupported", Some(728), Some(704), Int(1)),
    row("sparseCudaArraySupported", Some(732), Some(708), Int(0)),
    row("hostRegisterReadOnlySupported", Some(736), Some(712), Int(0)),
    row("timelineSemaphoreInteropSupported", Some(740), Some(716), Int(0)),
    row("memoryPoolsSupported", Some(744), Some(720), Int(1)),
    row("gpuDirectRDMASupported", Some(748), Some(724), Int(0)),
    row("gpuDirectRDMAFlushWritesOptions", Some(752), Some(728), Int(0)),
    row("gpuDirectRDMAWritesOrdering", Some(756), Some(732), Int(0)),
    row("memoryPoolSupportedHandleTypes", Some(760), Some(736), Int(0)),
    row("deferredMappingCudaArraySupported", Some(764), Some(740), Int(0)),
    row("ipcEventSupported", Some(768), Some(744), Int(0)),
    row("clusterLaunch", Some(772), Some(748), Int(0)),
    row("unifiedFunctionPointers", Some(776), Some(752), Int(0)),
    row("deviceNumaConfig", None, Some(756), Int(0)),
    row("deviceNumaId", None, Some(760), Int(-1)),
    row("mpsEnabled", None, Some(764), Int(0)),
    row("hostNumaId", None, Some(768), Int(-1)),
    row("gpuPciDeviceID", None, Some(772), Int(0)),
    row("gpuPciSubsystemID", None, Some(776), Int(0)),
    row("hostNumaMultinodeIpcSupported", None, Some(780), Int(0)),
];

impl Layout {
    /// The size of the structure in bytes.
    const fn bytes(self) -> usize {
        match self {
            Self::Cuda11 => 728,
            Self::Cuda12 => 1032,
            Self::Cuda13 => 1008,
        }
    }

    const fn offset(self, row: &Row) -> Option<usize> {
        match self {
            Self::Cuda11 | Self::Cuda12 => row.in_12,
            Self::Cuda13 => row.in_13,
        }
    }
}

/// The structure, filled.
pub(crate) fn properties(layout: Layout) -> Vec<u8> {
    let mut bytes = vec![0; layout.bytes()];
    for row in &ROWS {
        let Some(offset) = layout.offset(row) else { continue };
        let value = row.value.bytes();
        if let Some(field) = bytes.get_mut(offset..offset + value.len()) {
            field.copy_from_slice(&value);
        }
    }
    bytes
}

impl Value {
    fn bytes(self) -> Vec<u8> {
        match self {
            Int(value) => value.to_le_bytes().to_vec(),
            Ints(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Size(value) => value.to_le_bytes().to_vec(),
            Bytes(value) => value.to_vec(),
            Text(value) => value.as_bytes().to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::layout::layouts;

    #[test]
    fn fields_lie_where_the_headers_say() {
        for known in layouts() {
            let layout = if known.version == "13.0" { Layout::Cuda13 } else { Layout::Cuda12 };
            let structure = &known.structures["cudaDeviceProp"];
            assert_eq!(layout.bytes(), structure.bytes, "CUDA {}", known.version);
            for row in &ROWS {
                let field = structure.fields.iter().find(|field| field.name == row.name);
                let (found, bytes) = (layout.offset(row), row.value.bytes().len());
                assert_eq!(found, field.map(|field| field.offset), "{} of CUDA {}", row.name, known.version);
                let fits = field.is_none_or(|field| bytes == field.bytes || bytes < field.bytes && row.name == "name");
                assert!(fits, "{} of CUDA {}", row.name, known.version);
            }
            let reserved = structure.fields.iter().filter(|field| field.name == "reserved").count();
            let placed = ROWS.iter().filter(|row| layout.offset(row).is_some()).count();
            assert_eq!(placed + reserved, structure.fields.len(), "CUDA {}", known.version);
        }
    }

    #[test]
    fn the_oldest_layout_is_a_beginning_of_the_next() {
        let (old, new) = (properties(Layout::Cuda11), properties(Layout::Cuda12));
        assert_eq!(old, new[..old.len()]);
    }
}
