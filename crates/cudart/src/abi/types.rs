//! The structures that applications and runtime exchange, with the layout of CUDA 12 and 13. Pointers are integers
//! here.
//!
//! Reference: CUDA Runtime API 12.0, 12.9 and 13.0, `driver_types.h` and `vector_types.h`. The tests compare every
//! offset with what a C compiler makes of those headers.

use super::pointer::{Args, Plain};

/// A function of the application that takes a pointer of its own, or none.
pub(crate) type HostFunction = Option<extern "C-unwind" fn(data: u64)>;

/// Declares structures in the words of C, and that all their bit patterns are values.
macro_rules! structures {
    ($($(#[$meta:meta])* $name:ident { $($field:ident: $type:ty,)* })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy)]
        #[repr(C)]
        pub(crate) struct $name { $(pub(crate) $field: $type,)* }

        // SAFETY: `repr(C)` with fields that are integers, floats, pointers that may be null, or structures of these.
        unsafe impl Plain for $name {}
    )*};
}

structures! {
    /// `dim3`: three extents.
    Dim3 { x: u32, y: u32, z: u32, }

    /// `cudaExtent`.
    Extent { width: u64, height: u64, depth: u64, }

    /// `cudaPos`.
    Pos { x: u64, y: u64, z: u64, }

    /// `cudaPitchedPtr`.
    PitchedPtr { ptr: u64, pitch: u64, xsize: u64, ysize: u64, }

    /// `cudaMemcpy3DParms`.
    Memcpy3DParms {
        src_array: u64,
        src_pos: Pos,
        src_ptr: PitchedPtr,
        dst_array: u64,
        dst_pos: Pos,
        dst_ptr: PitchedPtr,
        extent: Extent,
        kind: i32,
    }

    /// `cudaMemcpy3DPeerParms`.
    Memcpy3DPeerParms {
        src_array: u64,
        src_pos: Pos,
        src_ptr: PitchedPtr,
        src_device: i32,
        dst_array: u64,
        dst_pos: Pos,
        dst_ptr: PitchedPtr,
        dst_device: i32,
        extent: Extent,
    }

    /// `cudaFuncAttributes`.
    FuncAttributes {
        shared_size_bytes: u64,
        const_size_bytes: u64,
        local_size_bytes: u64,
        max_threads_per_block: i32,
        num_regs: i32,
        ptx_version: i32,
        binary_version: i32,
        cache_mode_ca: i32,
        max_dynamic_shared_size_bytes: i32,
        preferred_shmem_carveout: i32,
        cluster_dim_must_be_set: i32,
        required_cluster_width: i32,
        required_cluster_height: i32,
        required_cluster_depth: i32,
        cluster_scheduling_policy_preference: i32,
        non_portable_cluster_size_allowed: i32,
        reserved: [i32; 16],
    }

    /// `cudaPointerAttributes` of CUDA 12; CUDA 13 has 64 reserved bytes behind it, which it leaves alone.
    PointerAttributes { kind: i32, device: i32, device_pointer: u64, host_pointer: u64, }

    /// `cudaLaunchConfig_t`.
    LaunchConfig {
        grid: Dim3,
        block: Dim3,
        dynamic_smem_bytes: u64,
        stream: u64,
        attrs: u64,
        num_attrs: u32,
    }

    /// `cudaLaunchAttribute`; the value is a union of 64 bytes.
    LaunchAttribute { id: i32, pad: [u8; 4], val: [u64; 8], }

    /// `cudaMemLocation`.
    MemLocation { kind: i32, id: i32, }

    /// `cudaChannelFormatDesc`.
    ChannelFormatDesc { x: i32, y: i32, z: i32, w: i32, f: i32, }

    /// `cudaResourceDesc`; what the words of the union are depends on the kind.
    ResourceDesc { kind: i32, res: [u64; 16], flags: u32, }

    /// `cudaTextureDesc`.
    TextureDesc {
        address_mode: [i32; 3],
        filter_mode: i32,
        read_mode: i32,
        srgb: i32,
        border_color: [f32; 4],
        normalized_coords: i32,
        max_anisotropy: u32,
        mipmap_filter_mode: i32,
        mipmap_level_bias: f32,
        min_mipmap_level_clamp: f32,
        max_mipmap_level_clamp: f32,
        disable_trilinear_optimization: i32,
        seamless_cubemap: i32,
    }

    /// `cudaResourceViewDesc`.
    ResourceViewDesc {
        format: i32,
        width: u64,
        height: u64,
        depth: u64,
        first_mipmap_level: u32,
        last_mipmap_level: u32,
        first_layer: u32,
        last_layer: u32,
        reserved: [u32; 16],
    }

    /// `cudaKernelNodeParams`.
    KernelNodeParams {
        func: u64,
        grid: Dim3,
        block: Dim3,
        shared_mem_bytes: u32,
        kernel_params: Args,
        extra: u64,
    }

    /// `cudaMemsetParams`; width and height are in elements and rows.
    MemsetParams { dst: u64, pitch: u64, value: u32, element_size: u32, width: u64, height: u64, }

    /// `cudaHostNodeParams`.
    HostNodeParams { function: HostFunction, data: u64, }

    /// `cudaGraphInstantiateParams`.
    GraphInstantiateParams { flags: u64, upload_stream: u64, error_node: u64, result: i32, }

    /// `cudaGraphNodeParams`; what the words of the union are depends on the kind.
    NodeParams { kind: i32, reserved0: [i32; 3], value: [u64; 29], reserved2: i64, }

    /// `cudaMemAllocNodeParams`; the properties of the pool are of no account.
    MemAllocNodeParams {
        pool_props: [u64; 11],
        access_descs: u64,
        access_desc_count: u64,
        bytesize: u64,
        dptr: u64,
    }

    /// `cudaMemcpy3DOperand`: pointer, row length, layer height and location; or array and offset.
    Memcpy3DOperand { kind: i32, op: [u64; 4], }

    /// `cudaMemcpy3DBatchOp`.
    Memcpy3DBatchOp {
        src: Memcpy3DOperand,
        dst: Memcpy3DOperand,
        extent: Extent,
        src_access_order: i32,
        flags: u32,
    }

    /// `cudaGraphExecUpdateResultInfo`.
    GraphExecUpdateResultInfo { result: i32, error_node: u64, error_from_node: u64, }

    /// `__fatBinC_Wrapper_t` of `fatbinary_section.h`: how an application hands over device code.
    FatbinWrapper { magic: u32, version: u32, data: u64, filename_or_fatbins: u64, }
}

impl ResourceDesc {
    /// The channels of linear and pitched memory, which follow its address.
    pub(crate) fn channel(&self) -> ChannelFormatDesc {
        let half = |index: usize| (self.res[1 + index / 2] >> (32 * (index % 2))) as i32;
        ChannelFormatDesc { x: half(0), y: half(1), z: half(2), w: half(3), f: half(4) }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::{offset_of, size_of};

    use super::*;
    use crate::abi::layout::{Layout, layouts};

    /// Compares the offsets of all fields, in order, and the size.
    fn check(structure: &str, size: usize, offsets: &[usize], in_versions: &[&Layout]) {
        for layout in in_versions {
            let expect = &layout.structures[structure];
            let known: Vec<usize> = expect.fields.iter().map(|field| field.offset).collect();
            assert_eq!(&known[..offsets.len()], offsets, "{structure} of CUDA {}", layout.version);
            assert!(size <= expect.bytes, "{structure} of CUDA {}", layout.version);
            if offsets.len() == known.len() {
                assert_eq!(size, expect.bytes, "{structure} of CUDA {}", layout.version);
            }
        }
    }

    macro_rules! offsets {
        ($type:ty: $($field:ident)*) => { (size_of::<$type>(), [$(offset_of!($type, $field)),*]) };
    }

    #[test]
    fn structures_are_laid_out_as_the_headers_say() {
        let all = layouts();
        let all: Vec<&Layout> = all.iter().collect();
        let (size, offsets) = offsets!(Extent: width height depth);
        check("cudaExtent", size, &offsets, &all);
        let (size, offsets) = offsets!(Pos: x y z);
        check("cudaPos", size, &offsets, &all);
        let (size, offsets) = offsets!(PitchedPtr: ptr pitch xsize ysize);
        check("cudaPitchedPtr", size, &offsets, &all);
        let (size, offsets) = offsets!(Memcpy3DParms: src_array src_pos src_ptr dst_array dst_pos dst_ptr extent kind);
        check("cudaMemcpy3DParms", size, &offsets, &all);
        let (size, offsets) = offsets!(Memcpy3DPeerParms: src_array src_pos src_ptr src_device
            dst_array dst_pos dst_ptr dst_device extent);
        check("cudaMemcpy3DPeerParms", size, &offsets, &all);
        let (size, offsets) = offsets!(FuncAttributes: shared_size_bytes const_size_bytes local_size_bytes
            max_threads_per_block num_regs ptx_version binary_version cache_mode_ca max_dynamic_shared_size_bytes
            preferred_shmem_carveout cluster_dim_must_be_set required_cluster_width required_cluster_height
            required_cluster_depth cluster_scheduling_policy_preference non_portable_cluster_size_allowed reserved);
        check("cudaFuncAttributes", size, &offsets, &all);
        let (size, offsets) = offsets!(PointerAttributes: kind device device_pointer host_pointer);
        check("cudaPointerAttributes", size, &offsets, &all);
        let (size, offsets) = offsets!(LaunchConfig: grid block dynamic_smem_bytes stream attrs num_attrs);
        check("cudaLaunchConfig_st", size, &offsets, &all);
        let (size, offsets) = offsets!(LaunchAttribute: id pad val);
        check("cudaLaunchAttribute_st", size, &offsets, &all);
        let (size, offsets) = offsets!(MemLocation: kind id);
        check("cudaMemLocation", size, &offsets, &all);
        let (size, offsets) = offsets!(ChannelFormatDesc: x y z w f);
        check("cudaChannelFormatDesc", size, &offsets, &all);
        let newest = [all[2]];
        let (size, offsets) = offsets!(ResourceDesc: kind res flags);
        check("cudaResourceDesc", size, &offsets, &newest);
        let (size, offsets) = offsets!(TextureDesc: address_mode filter_mode read_mode srgb border_color
            normalized_coords max_anisotropy mipmap_filter_mode mipmap_level_bias min_mipmap_level_clamp
            max_mipmap_level_clamp disable_trilinear_optimization seamless_cubemap);
        check("cudaTextureDesc", size, &offsets, &newest);
        let (size, offsets) = offsets!(ResourceViewDesc: format width height depth first_mipmap_level
            last_mipmap_level first_layer last_layer reserved);
        check("cudaResourceViewDesc", size, &offsets, &newest);
        let (size, offsets) = offsets!(KernelNodeParams: func grid block shared_mem_bytes kernel_params extra);
        check("cudaKernelNodeParams", size, &offsets, &newest);
        let (size, offsets) = offsets!(MemsetParams: dst pitch value element_size width height);
        check("cudaMemsetParams", size, &offsets, &newest);
        let (size, offsets) = offsets!(HostNodeParams: function data);
        check("cudaHostNodeParams", size, &offsets, &newest);
        let (size, offsets) = offsets!(GraphInstantiateParams: flags upload_stream error_node result);
        check("cudaGraphInstantiateParams_st", size, &offsets, &all[1..]);
        let (size, offsets) = offsets!(NodeParams: kind reserved0 value reserved2);
        check("cudaGraphNodeParams", size, &offsets, &all[1..]);
        let (size, offsets) = offsets!(MemAllocNodeParams: pool_props access_descs access_desc_count bytesize dptr);
        check("cudaMemAllocNodeParams", size, &offsets, &all[1..]);
        let (size, offsets) = offsets!(Memcpy3DOperand: kind op);
        check("cudaMemcpy3DOperand", size, &offsets, &all[1..]);
        let (size, offsets) = offsets!(Memcpy3DBatchOp: src dst extent src_access_order flags);
        check("cudaMemcpy3DBatchOp", size, &offsets, &all[1..]);
        let (size, offsets) = offsets!(GraphExecUpdateResultInfo: result error_node error_from_node);
        check("cudaGraphExecUpdateResultInfo_st", size, &offsets, &newest);
        assert_eq!((size_of::<Dim3>(), size_of::<FatbinWrapper>()), (12, 24));
    }
}
